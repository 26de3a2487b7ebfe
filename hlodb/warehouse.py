"""The warehouse from Python: canned queries and SQL, read-only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from hlodb.errors import UsageError
from hlodb.integrations.notebook import Page
from hlodb.lake.opening import open_warehouse
from hlodb.printed_commands import default_db, named_db
from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.result import Result
from hlodb.queries.run import Value, run_query, run_sql
from hlodb.schema.connection import Connection
from hlodb.schema.limits import close_to_the_world
from hlodb.schema.open_readers import announce
from hlodb.text import parse_size

_PROGRAMS = 3
"""How many programs an explanation describes."""


class Warehouse:
    """A warehouse opened for reading; `open` gives one, `with` closes it.

    While `hlodb.capture` writes the same file in this process, it is closed, and opened
    again for the next question.
    """

    def __init__(self, place: str | Path, catalogue: Catalogue) -> None:
        self._place = place
        self._catalogue = catalogue
        self._db = named_db(place)
        self._open: Connection | None = _opened(place)
        self._is_closed = False
        announce(self)

    @property
    def file(self) -> Path:
        """The file, or the folder of a lake."""
        return Path(self._place)

    @property
    def _connection(self) -> Connection:
        if self._is_closed:
            raise UsageError("this warehouse is closed: hlodb.open opens it again")
        if self._open is None:
            self._open = _opened(self._place)
        return self._open

    def step_aside(self) -> None:
        """Close the file until the next question, so that others may write."""
        if self._open is not None:
            self._open.interrupt()
            self._open.close()
            self._open = None

    def query(self, name: str, **parameters: Value) -> Result:
        """Answer a canned query: `.rows`, `.dicts()`, `.arrow()`, `.df()`, `.pl()`.

        Raises UsageError for an unknown query, parameter, run or program.
        """
        return run_query(self._connection, name, parameters, self._catalogue)

    def sql(self, statement: str) -> Result:
        """Run SQL of your own; files outside the warehouse can't be reached."""
        return run_sql(self._connection, statement)

    def explain(
        self,
        run: str | None = None,
        program: str | None = None,
        *,
        limit: int | str | None = None,
        top: int = 5,
    ) -> Page:
        """Explain what fills the memory of a run, the latest unless named.

        `limit` is the memory that programs may use, such as `"16 GiB"`. A notebook
        shows the page with its pictures, as `hlodb explain` writes it.
        """
        from hlodb.reports.config.settings import Settings
        from hlodb.reports.read.drawn.overview_drawings import read_drawings
        from hlodb.reports.read.overview import read_overview
        from hlodb.reports.render.overviews import Shown, rendered

        found = [
            read_overview(
                self._connection,
                run,
                program,
                points=0,
                top=top,
                db=self._db,
                limits=Settings(limit_bytes=_bytes(limit)).limits(),
            )
        ]
        drawings = [read_drawings(self._connection, found[0], _PROGRAMS)]
        shown = Shown(_PROGRAMS, top, drawings=drawings)
        return Page(rendered(found, "html", shown), rendered(found, "text", shown))

    def diff(
        self,
        base: str,
        candidate: str,
        *,
        limit: int | str | None = None,
        top: int = 20,
    ) -> Page:
        """Show what changed between two runs, or `"RUN:PROGRAM"` twice, and why.

        It is what `hlodb diff` writes: print the page for its words, `limit` and `top`
        are those of the command.
        """
        from hlodb.reports.build import build_diff
        from hlodb.reports.config.settings import Settings
        from hlodb.reports.render.forms import renderer, shown_by

        report = build_diff(
            self._connection,
            base,
            candidate,
            Settings(limit_bytes=_bytes(limit)),
            top=top,
            shown=shown_by(["html", "text"]),
            db=self._db,
        )
        return Page(renderer("html")(report), renderer("text")(report))

    def report(
        self,
        run: str | None = None,
        baseline: str | None = None,
        *,
        limit: int | str | None = None,
    ) -> Page:
        """Compare a run with its baseline, as `hlodb report` does without settings."""
        from hlodb.reports.build import build_report
        from hlodb.reports.config.settings import Settings
        from hlodb.reports.read.compared_runs import Request
        from hlodb.reports.render.forms import renderer

        request = Request(run, baseline, db=self._db)
        report = build_report(
            self._connection, request, Settings(limit_bytes=_bytes(limit))
        )
        return Page(renderer("html")(report), renderer("text")(report))

    def figure(self, program: str, run: str | None = None, *, color: int = 0) -> Page:
        """Draw the live memory of a program over its schedule, in one memory space."""
        from hlodb.reports.render.figures import timeline_page

        html, text = timeline_page(self._connection, run, program, color)
        return Page(html, text)

    def close(self) -> None:
        """Close the file, so that others may write; what still runs is given up."""
        self.step_aside()
        self._is_closed = True

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
    return Warehouse(default_db() if path is None else path, catalogue)


def _opened(place: str | Path) -> Connection:
    connection = open_warehouse(place)
    close_to_the_world(connection)
    return connection


def _bytes(limit: int | str | None) -> int | None:
    return parse_size(limit) if isinstance(limit, str) else limit
