"""What is saved for the backward pass, and what XLA recomputes there itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

FOUND = """
    SELECT DISTINCT i.name
    FROM {query}() AS s
    JOIN store."values" AS v USING (module_id, value_id)
    JOIN store.instructions AS i USING (module_id, instruction_id)
    WHERE {condition}
"""


def test_what_xla_recomputes_is_not_saved(tmp_path: Path) -> None:
    """Six clones are made of forward operations, and read backward alone."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "remat" / "v5e-jax-0.10.2.tar.xz")], path, jobs=1)
    with connect(path) as connection:
        read_backward = FOUND.format(
            query="value_phases",
            condition="s.made_in = 'forward' AND s.last_read_in = 'backward'"
            " AND i.name LIKE 'fusion.%.remat'",
        )
        clones = connection.execute(read_backward).fetchall()
        saved = FOUND.format(query="saved_values", condition="TRUE")
        kept = connection.execute(saved).fetchall()
        remedies = run_query(connection, "remedies", {"top": None}).dicts()
    assert {name for (name,) in clones} == {
        f"fusion.{number}.remat" for number in (54, 56, 57, 58, 59, 60)
    }
    assert {name for (name,) in kept} == {
        *("fusion.52", "fusion.53", "fusion.55", "convolution_tanh_fusion")
    }
    promised = {row["rule_id"]: row["saved_reserved_bytes"] for row in remedies}
    assert (promised["recompute"], promised["offload"]) == (4 << 30, 3 << 30)


@pytest.mark.parametrize(
    ("release", "fall"), [("0.10.2", None), ("0.11.2", 3_896_508_416 - 843_055_104)]
)
def test_a_cpu_recomputes_where_its_release_keeps_that(
    release: str, fall: int | None, tmp_path: Path
) -> None:
    """make_cpu_dump.py compiled eight layers without and with jax.checkpoint."""
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "remat" / f"cpu-jax-{release}.tar.xz")], path, jobs=1)
    with connect(path) as connection:
        remedies = run_query(connection, "remedies", {"top": None}).dicts()
    promised = [
        row["saved_reserved_bytes"] for row in remedies if row["rule_id"] == "recompute"
    ]
    assert promised == ([] if fall is None else [pytest.approx(fall, rel=0.1)])
