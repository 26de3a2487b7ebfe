"""The largest arguments of a JAX function that fit, from compiling it at a few sizes.

    def arguments(batch):
        return weights, jax.ShapeDtypeStruct((batch, 1024), jnp.bfloat16)

    hlodb.fit(step, [arguments(n) for n in (8, 16, 32)], limit="16 GiB")

Nothing runs, and the device need not be there. JAX is not imported before it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hlodb.errors import UsageError
from hlodb.integrations.jax_capture import capture, compiled_program
from hlodb.queries.result import Result
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from hlodb.text import parse_size


def fit(
    function: Any,
    shapes: Iterable[Sequence[Any]],
    *,
    limit: int | str | None = None,
    color: int = 0,
) -> Result:
    """Return the rows of the query `largest_fit` for a function compiled at `shapes`.

    `function` is jitted already, or is jitted here; each of `shapes` is a tuple of its
    arguments, arrays or `jax.ShapeDtypeStruct`s. `limit` is the memory there is, such
    as `"16 GiB"`, else that of the device; `color` is the memory space.
    """
    asked: dict[str, Value] = {"color": color}
    if limit is not None:
        asked["limit_bytes"] = parse_size(limit) if isinstance(limit, str) else limit
    sizes = list(shapes)
    if len(sizes) < 2:
        raise UsageError("fit wants the arguments at two sizes or more")
    with TemporaryDirectory(prefix="hlodb-fit-") as folder:
        file = Path(folder) / "fit.duckdb"
        for number, arguments in enumerate(sizes):
            compiled = compiled_program(function, arguments)
            capture(compiled, run=f"size {number}", db=file)
        with connect(file) as connection:
            return run_query(connection, "largest_fit", asked)
