"""hlodb: XLA compiler dumps of many runs as one DuckDB warehouse.

hlodb.explain(function, *shapes)  what fills the memory of a JAX program
hlodb.capture(compiled, run=…)    a compiled JAX program in
hlodb.fit(function, shapes)       how memory grows with batch, sequence or width
hlodb.largest_size(function, …)   the largest that fits, found by compiling
hlodb.open(database).query(name)  canned questions
hlodb.open(database).sql(text)    questions of your own
hlodb.engine(database)            SQLAlchemy; its tables: import hlodb.schema.tables
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hlodb.version import __version__

__all__ = [
    "Warehouse",
    "__version__",
    "capture",
    "engine",
    "errors",
    "explain",
    "fit",
    "largest_size",
    "open",
]

if TYPE_CHECKING:
    from hlodb import errors
    from hlodb.integrations.jax_capture import capture
    from hlodb.integrations.jax_explain import explain
    from hlodb.integrations.jax_fit import fit, largest_size
    from hlodb.schema.engine import engine
    from hlodb.warehouse import Warehouse, open

if sys.platform == "win32":
    raise ImportError("hlodb runs on Linux and macOS; on Windows, install it in WSL")
if os.path.isfile(os.path.join(os.path.dirname(__file__), "ingest")):
    raise ImportError(
        "this clone of hlodb has text files in place of its symbolic links: clone it"
        " again with `git clone -c core.symlinks=true`"
    )

_HOMES = {
    "Warehouse": "hlodb.warehouse",
    "capture": "hlodb.integrations.jax_capture",
    "engine": "hlodb.schema.engine",
    "explain": "hlodb.integrations.jax_explain",
    "fit": "hlodb.integrations.jax_fit",
    "largest_size": "hlodb.integrations.jax_fit",
    "open": "hlodb.warehouse",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the command line needs few of them."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "errors":
        return import_module("hlodb.errors")
    raise AttributeError(f"module 'hlodb' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
