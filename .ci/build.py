"""Build the sdist and the wheel into a folder; equal sources give equal bytes.

Times are those of the last commit, or of SOURCE_DATE_EPOCH. The wheel is built from the
sdist, so that both hold the same.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(folder: Path) -> None:
    """Write both packages into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    # The wheel holds the modes of its files.
    os.umask(0o022)
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or last_commit()
    os.environ["SOURCE_DATE_EPOCH"] = epoch
    with tempfile.TemporaryDirectory() as temporary:
        build("--sdist", ROOT, Path(temporary))
        [made] = Path(temporary).glob("*.tar.gz")
        sdist = folder / made.name
        repack(made, sdist, int(epoch))
        with tarfile.open(sdist) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(temporary)
        build("--wheel", Path(temporary) / made.name.removesuffix(".tar.gz"), folder)


def last_commit() -> str:
    """Return the time of the last commit, in seconds since 1970."""
    command = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def build(kind: str, source: Path, folder: Path) -> None:
    """Run the builder that pyproject.toml names, in an environment of its own."""
    command = [sys.executable, "-m", "build", kind, "--outdir", str(folder)]
    subprocess.run([*command, str(source)], check=True, stdout=subprocess.DEVNULL)


def repack(source: Path, target: Path, epoch: int) -> None:
    """Write an archive again without the time, the owner and the order of its making.

    setuptools writes all three into an sdist.
    """
    with (
        tarfile.open(source) as old,
        target.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime = epoch
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "dist").absolute())
