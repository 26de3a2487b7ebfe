"""The warehouse that the questions are about, made of dumps of this repository."""

from __future__ import annotations

import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.agents.arithmetic import ROOT
from bench.agents.questions import CPU, DONATION, EDITS, LOGS, SIZES, V5E
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros

RELEASES = ("0.4.35", "0.5.3", "0.10.2")
REPORTS = ("autotune", "bfc_annotated", "argument_limit")


def make_warehouse(path: Path) -> None:
    """Write the warehouse to a new file."""
    for release in RELEASES:
        _ingest(str(ROOT / CPU.format(release)), path, None, "releases")
    _ingest(str(ROOT / V5E), path)
    for platform, archive in SIZES.items():
        series = f"sizes-{platform}"
        _ingest(str(ROOT / archive), path, series, series)
    for name in ("base", "dropped"):
        archive = str(ROOT / DONATION.format(name))
        _ingest(archive, path, f"donation/{name}")
    for name in REPORTS:
        _ingest(str(ROOT / LOGS / f"{name}.log"), path, name)
    with TemporaryDirectory() as folder:
        for edits, archive in EDITS.items():
            _ingest_folders(ROOT / archive, Path(folder), edits, path)
        _ingest_cut(Path(folder), path)


def _ingest(
    origin: str, path: Path, name: str | None = None, series: str | None = None
) -> None:
    request = RunRequest(name=name, series=series)
    ingest([origin], path, request=request, jobs=1, prepare=renew_macros)


def _ingest_folders(archive: Path, folder: Path, name: str, path: Path) -> None:
    """Ingest each folder of an archive as a run of its own."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    home = folder / archive.name.removesuffix(".tar.xz")
    for dump in sorted(each for each in home.iterdir() if each.is_dir()):
        _ingest(str(dump), path, f"{name}/{dump.name}", name)


def _ingest_cut(folder: Path, path: Path) -> None:
    """Ingest a dump whose assignment breaks off."""
    dump = folder / "cut"
    with tarfile.open(ROOT / DONATION.format("base")) as tar:
        tar.extractall(dump)
    [file] = dump.rglob("*-buffer-assignment.txt")
    text = file.read_bytes()
    file.write_bytes(text[: len(text) // 3])
    _ingest(str(dump), path, "cut")
