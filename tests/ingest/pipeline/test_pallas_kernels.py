"""A real dump with kernels written in Pallas, base64 within the attributes."""

from __future__ import annotations

import json
import re
import tarfile
from hashlib import blake2b
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

ARCHIVE = DATA / "kernels" / "v5e-jax-0.10.2.tar.xz"
_KERNEL = re.compile(r'%(\S+) = .*"tpu_custom_call".*"body": ?"([^"]*)"')


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder)
    return folder


def stored(body: str) -> str:
    digest = blake2b(body.encode(), digest_size=16).hexdigest()
    return f"{body[:64]}… ({len(body)} characters, {digest})"


def test_all_checks_hold(tmp_path: Path) -> None:
    """Among others that text and proto, and JAX's own totals, say the same."""
    db = tmp_path / "w.duckdb"
    ingest([str(ARCHIVE)], db, jobs=1)
    with connect(db) as connection:
        rejects = connection.execute("FROM rejects").fetchall()
        found = run_query(connection, "check_results", {}).dicts()
    checked = {row["check_name"]: row["checked_count"] for row in found}
    assert rejects == []
    assert {(row["status"], row["fault_count"]) for row in found} == {("ok", 0)}
    assert (checked["proto"], checked["memory_analysis"]) == (595, 1)


def test_a_kernel_is_kept_as_head_length_and_digest(dump: Path, tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    ingest([str(dump)], db, jobs=1)
    with connect(db) as connection:
        rows = connection.execute(
            "SELECT name, backend_config FROM instructions"
            " WHERE custom_call_target = 'tpu_custom_call'"
        ).fetchall()
    found = [
        (name, json.loads(config, strict=False)["custom_call_config"]["body"])
        for name, config in rows
    ]
    printed = [
        (name, stored(body))
        for path in dump.glob("*optimizations.txt")
        for name, body in _KERNEL.findall(path.read_text())
    ]
    assert len(printed) == 6
    assert sorted(found) == sorted(printed)


def test_another_kernel_is_another_program(dump: Path, tmp_path: Path) -> None:
    """One that differs far behind what is kept of it."""
    [text] = dump.glob("*.before_optimizations.txt")
    other = tmp_path / "other" / text.name
    other.parent.mkdir()
    body = max(_KERNEL.findall(text.read_text()), key=lambda found: len(found[1]))[1]
    changed = body[:-20] + ("B" if body[-20] == "A" else "A") + body[-19:]
    other.write_text(text.read_text().replace(body, changed))
    db = tmp_path / "w.duckdb"
    ingest([str(text), str(other)], db, jobs=1)
    with connect(db) as connection:
        found = connection.execute(
            "SELECT count(DISTINCT module_id), count(DISTINCT exact_fingerprint),"
            " count(DISTINCT graph_fingerprint) FROM modules"
        ).fetchone()
    assert found == (2, 2, 1)
