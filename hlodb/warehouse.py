"""The warehouse from Python: canned queries and SQL, read-only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from hlodb.integrations.notebook import Page
from hlodb.lake.opening import open_warehouse
from hlodb.printed_commands import default_db, named_db
from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.result import Result
from hlodb.queries.run import Value, run_query, run_sql
from hlodb.schema.connection import Connection
from hlodb.schema.limits import close_to_the_world

_PROGRAMS = 3
"""How many programs an explanation describes."""


class Warehouse:
    """A warehouse opened for reading; `open` gives one, `with` closes it."""

    def __init__(
        self, connection: Connection, catalogue: Catalogue, db: str | None
    ) -> None:
        self._connection = connection
        self._catalogue = catalogue
        self._db = db

    def query(self, name: str, **parameters: Value) -> Result:
        """Answer a canned query: `.rows`, `.dicts()`, `.arrow()`, `.df()`, `.pl()`.

        Raises UsageError for an unknown query, parameter, run or program.
        """
        return run_query(self._connection, name, parameters, self._catalogue)

    def sql(self, statement: str) -> Result:
        """Run SQL of your own; files outside the warehouse can't be reached."""
        return run_sql(self._connection, statement)

    def explain(
        self, run: str | None = None, program: str | None = None, *, top: int = 5
    ) -> Page:
        """Explain what fills the memory of a run, the latest unless named.

        A notebook shows the page with its pictures, as `hlodb explain` writes it.
        """
        from hlodb.reports.read.drawn.overview_drawings import read_drawings
        from hlodb.reports.read.overview import read_overview
        from hlodb.reports.render.overviews import Shown, rendered

        found = [
            read_overview(
                self._connection, run, program, points=0, top=top, db=self._db
            )
        ]
        drawings = [read_drawings(self._connection, found[0], _PROGRAMS)]
        shown = Shown(_PROGRAMS, top, drawings=drawings)
        return Page(rendered(found, "html", shown), rendered(found, "text", shown))

    def report(self, run: str | None = None, baseline: str | None = None) -> Page:
        """Compare a run with its baseline, as `hlodb report` does without settings."""
        from hlodb.reports.build import build_report
        from hlodb.reports.config.settings import Settings
        from hlodb.reports.read.compared_runs import Request
        from hlodb.reports.render.forms import renderer

        request = Request(run, baseline, db=self._db)
        report = build_report(self._connection, request, Settings())
        return Page(renderer("html")(report), renderer("text")(report))

    def figure(self, program: str, run: str | None = None, *, color: int = 0) -> Page:
        """Draw the live memory of a program over its schedule, in one memory space."""
        from hlodb.reports.render.figures import timeline_page

        html, text = timeline_page(self._connection, run, program, color)
        return Page(html, text)

    def close(self) -> None:
        """Close the file, so that others may write; what still runs is given up."""
        self._connection.interrupt()
        self._connection.close()

    def __enter__(self) -> Warehouse:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()


def open(
    path: str | Path | None = None, *, queries: Iterable[str | Path] = ()
) -> Warehouse:
    """Open a warehouse, file or lake, for reading, with query folders of your own.

    `path` is $HLODB_DB unless named, else hlodb.duckdb. Raises UsageError where there
    is none, WarehouseError where it is locked or of another schema version.
    """
    # Read first: what is wrong with a query must not leave the file open.
    catalogue = load_catalogue(Path(folder) for folder in queries)
    place = default_db() if path is None else path
    connection = open_warehouse(place)
    close_to_the_world(connection)
    return Warehouse(connection, catalogue, named_db(place))
