"""Lets DuckDB use one thread in tests, which run side by side, one on each core.

It plans queries as for the commands that ask them (`hlodb.lake.opening`). Imported
before anything that opens a database. Commands that tests start as processes use as
many threads as they do for users.
"""

from __future__ import annotations

from typing import Any

import _duckdb

_connect = _duckdb.connect


def _connect_with_one_thread(*given: Any, **named: Any) -> _duckdb.DuckDBPyConnection:
    named["config"] = {
        "threads": 1,
        "disabled_optimizers": "compressed_materialization",
        **(named.pop("config", None) or {}),
    }
    return _connect(*given, **named)


_duckdb.connect = _connect_with_one_thread
