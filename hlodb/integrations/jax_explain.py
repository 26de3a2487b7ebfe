"""What fills the memory of a JAX program, in a notebook or a shell, without files.

    hlodb.explain(step, params, batch)
    hlodb.explain(compiled, limit="16 GiB")

Nothing runs and nothing is kept. JAX is not imported before it is used.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hlodb.integrations.jax_capture import capture_program
from hlodb.integrations.notebook import Page
from hlodb.schema.warehouse import connect
from hlodb.text import parse_size


def explain(
    program: Any, *arguments: Any, limit: int | str | None = None, top: int = 5
) -> Page:
    """Explain what fills the memory of a program, and what to do about it.

    `program` is a `jax.stages.Compiled` or `Lowered`, or a function, jitted or not,
    with its `arguments`, arrays or `jax.ShapeDtypeStruct`s. `limit` is the memory that
    it may use, such as `"16 GiB"`; `top` is the number of rows in each table. A
    notebook shows the page, a shell prints its words.
    """
    # Reports take a while to load, and most programs that capture need none.
    from hlodb.reports.config.settings import Settings
    from hlodb.reports.read.drawn.overview_drawings import read_drawings
    from hlodb.reports.read.overview import read_overview
    from hlodb.reports.render.overviews import Shown, rendered

    size = parse_size(limit) if isinstance(limit, str) else limit
    limits = Settings(limit_bytes=size).limits()
    with TemporaryDirectory(prefix="hlodb-explain-") as folder:
        file = Path(folder) / "explain.duckdb"
        capture_program(program, arguments, run="explained", db=file)
        with connect(file) as connection:
            found = [read_overview(connection, None, None, 0, top=top, limits=limits)]
            drawings = [read_drawings(connection, found[0], 1)]
    shown = Shown(1, top, drawings=drawings, has_commands=False)
    return Page(rendered(found, "html", shown), rendered(found, "text", shown))
