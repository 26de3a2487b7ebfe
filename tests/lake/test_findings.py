"""Reports record findings in a lake, and people decide about them, as in a file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.lake.packing import compact_lake, pack
from tests.conftest import DUMPS

REPORT = ["report", "--run", "jaxlib-0.5.3", "--baseline", "jaxlib-0.4.35",
          "--warn-only", "-o"]  # fmt: skip


@pytest.fixture
def both(empty_lake: Path, tmp_path: Path) -> list[Path]:
    """Return a file and a lake of the same two runs."""
    file = tmp_path / "w.duckdb"
    dumps = [
        DUMPS / "cpu" / f"jaxlib-{release}.tar.xz" for release in ("0.4.35", "0.5.3")
    ]
    ingest([*map(str, dumps)], file, jobs=1)
    lake = Path(shutil.copytree(empty_lake, tmp_path / "w.lake"))
    pack(file, lake)
    return [file, lake]


def listed(db: Path, output: Path) -> list[dict[str, object]]:
    main(["triage", "--format", "json", "-o", str(output), "--db", str(db)])
    rows: list[dict[str, object]] = json.loads(output.read_text())
    return rows


@pytest.mark.slow
def test_a_lake_keeps_findings_and_decisions(
    both: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "output"
    found = []
    for db in both:
        monkeypatch.setenv("HLODB_DB", str(db))  # Else printed commands name it.
        # The same report twice is recorded once.
        for _ in range(2):
            main([*REPORT, str(output), "--db", str(db)])
        first = str(listed(db, output)[0]["finding_id"])
        decision = ["triage", first, "accept", "--reason", "wider", "--by", "me"]
        assert main([*decision, "--db", str(db)]) == 0
        main([*REPORT, str(output), "--db", str(db), "--stamp", "2"])
        found.append((listed(db, output), output.read_bytes()))
    assert len(found[0][0]) > 1
    assert found[0] == found[1]
    for _ in range(2):
        compact_lake(both[1], readers_seconds=0)
    assert listed(both[1], output) == found[0][0]
