"""The largest arguments of a JAX function that fit, from compiling it at a few sizes.

    def arguments(batch):
        return weights, jax.ShapeDtypeStruct((batch, 1024), jnp.bfloat16)

    hlodb.fit(step, [arguments(n) for n in (8, 16, 32)], limit="16 GiB")
    hlodb.largest_size(step, arguments, (8, 16, 32), limit="16 GiB").fits

Nothing runs, and the device need not be there. JAX is not imported before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hlodb.errors import UsageError
from hlodb.integrations.jax_capture import capture_program, is_out_of_memory
from hlodb.queries.result import Result
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from hlodb.text import parse_size

_MOST_AT_ONCE = 8
"""How many times the largest compiled size the next one is, at most."""


class LargestSize(NamedTuple):
    """The largest size that was found to fit, and the least beyond it that does not.

    `fits` is None if no compiled size fits, `too_large` if the greatest does.
    `reserved` has the bytes that each compiled size reserves, None where the compiler
    refused it.
    """

    fits: int | None
    too_large: int | None
    reserved: Mapping[int, int | None]


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
    asked = _parameters(limit, color)
    sizes = list(shapes)
    if len(sizes) < 2:
        raise UsageError("fit wants the arguments at two sizes or more")
    with TemporaryDirectory(prefix="hlodb-fit-") as folder:
        file = Path(folder) / "fit.duckdb"
        for number, arguments in enumerate(sizes):
            capture_program(function, arguments, run=f"size {number}", db=file)
        with connect(file) as connection:
            return run_query(connection, "largest_fit", asked)


def largest_size(
    function: Any,
    arguments: Callable[[int], Sequence[Any]],
    sizes: Iterable[int],
    *,
    limit: int | str | None = None,
    color: int = 0,
    multiple: int = 1,
    within: float = 0.05,
    most: int = 16,
) -> LargestSize:
    """Return the largest size that fits, found by compiling more than `sizes`.

    `arguments` gives the arguments of `function` for a size; `function`, `limit` and
    `color` are as for `fit`. What is compiled next is the answer of `fit`, or lies
    between a size that fits and one that does not, until these are `within` a share of
    each other and twice the larger does not fit either, or `most` sizes are compiled.
    All sizes are multiples of `multiple`, such as the number of devices that share a
    batch.

    Raises UsageError where it is not known what the limit is, or what a size reserves.
    """
    asked = _parameters(limit, color)
    reserved: dict[int, int | None] = {}
    with TemporaryDirectory(prefix="hlodb-fit-") as folder:
        file = Path(folder) / "fit.duckdb"

        def is_fitting(size: int) -> bool:
            given = arguments(size * multiple)
            run = f"size {len(reserved)}"
            reserved[size], fitting = _reserved(function, given, run, file, asked)
            return fitting

        def guess() -> int | None:
            stored = [size for size, size_bytes in reserved.items() if size_bytes]
            return _guess(file, asked, max(stored)) if len(stored) > 1 else None

        first = {max(1, size // multiple) for size in sizes}
        fits, too_large = search(is_fitting, guess, sorted(first), within, most)
    return LargestSize(
        fits * multiple or None,
        too_large and too_large * multiple,
        {size * multiple: size_bytes for size, size_bytes in sorted(reserved.items())},
    )


def search(
    is_fitting: Callable[[int], bool],
    guess: Callable[[], int | None],
    first: Sequence[int],
    within: float,
    most: int,
) -> tuple[int, int | None]:
    """Return the largest size found to fit, or 0, and the least beyond it that is not.

    `first` are tried, and what `guess` says is the largest from what was tried, until
    the two are `within` a share of each other and twice the larger does not fit, or
    `most` were tried.
    """
    tried: dict[int, bool] = {}
    waiting = list(first)
    fits, too_large = 0, None
    while waiting and len(tried) < max(most, len(first)):
        size = waiting.pop(0)
        tried[size] = is_fitting(size)
        fits = max((n for n, fitting in tried.items() if fitting), default=0)
        too_large = min((n for n in tried if n > fits), default=None)
        if waiting:
            continue
        if too_large is not None and too_large - fits <= max(1, int(fits * within)):
            # Where a compiler does otherwise for larger sizes, one may fit again.
            waiting = [n for n in (2 * too_large,) if n not in tried]
        else:
            turn = len(tried) - len(first)
            waiting = [_next_size(fits, too_large, guess, within, turn)]
    return fits, too_large


def _parameters(limit: int | str | None, color: int) -> dict[str, Value]:
    asked: dict[str, Value] = {"color": color}
    if limit is not None:
        asked["limit_bytes"] = parse_size(limit) if isinstance(limit, str) else limit
    return asked


def _reserved(
    function: Any,
    arguments: Sequence[Any],
    run: str,
    file: Path,
    asked: Mapping[str, Value],
) -> tuple[int | None, bool]:
    """Store the function compiled for `arguments`; return its bytes and if they fit."""
    try:
        capture_program(function, arguments, run=run, db=file)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return None, False
    with connect(file) as connection:
        rows = run_query(connection, "headroom", {**asked, "run": run}).dicts()
    if not rows:
        raise UsageError(
            "this release of JAX gives no buffer assignment: dump the sizes with"
            " --xla_dump_to, and ask `hlodb fit`"
        )
    if rows[0]["usable_bytes"] is None:
        raise UsageError(
            'the memory of this device is not known: say limit="16 GiB", for example'
        )
    return rows[0]["reserved_bytes"], rows[0]["headroom_bytes"] >= 0


def _guess(file: Path, asked: Mapping[str, Value], greatest: int) -> int | None:
    """Return the size that the laws of the compiled ones give, None for none.

    An axis may count otherwise than the sizes do: they are taken to be in proportion.
    """
    with connect(file) as connection:
        rows = run_query(connection, "largest_fit", asked).dicts()
    laws = [row for row in rows if row["largest_size"] is not None]
    if not laws:
        return None
    law = max(laws, key=lambda row: row["growing_bytes"] or 0)
    return int(law["largest_size"] * greatest // law["max_size"])


def _next_size(
    fits: int,
    too_large: int | None,
    guess: Callable[[], int | None],
    within: float,
    turn: int,
) -> int:
    """Return a size between, or beyond where none is too large: `guess` if it may be.

    Where the laws end at what fits, a little more shows whether they hold. Every third
    time it is the middle, or twice as much: laws that are wrong come nearer in small
    steps.
    """
    size = None if turn % 3 == 2 else guess()
    if too_large is None:
        size = min(size or 2 * fits, _MOST_AT_ONCE * fits)
    elif not size or size >= too_large:
        # A size that the compiler refuses is in no law.
        size = isqrt(fits * too_large) or too_large // 2
    return size if size > fits else fits + max(1, int(fits * within))
