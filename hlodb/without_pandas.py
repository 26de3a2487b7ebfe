"""Keeps pandas out of a process that is hlodb's own, installed or not."""

from __future__ import annotations

import sys
from types import SimpleNamespace


def keep_pandas_out() -> None:
    """Have every import of pandas in this process fail from now on, as if it were not
    installed.

    DuckDB looks for it with each parameter that it is given, pyarrow with each array:
    importing it would take longer than most commands, and none has a use for it.
    """
    sys.meta_path.insert(0, SimpleNamespace(find_spec=_find_no_pandas))


def _find_no_pandas(name: str, *_: object) -> None:
    if name == "pandas":
        raise ModuleNotFoundError("hlodb has no use for pandas", name=name)
