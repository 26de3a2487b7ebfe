"""Reads archives made to do harm: what is sound, and why the rest is refused."""

from __future__ import annotations

import io

from hlodb.ingest.sources.discover import Limits, RefusedFile
from hlodb.ingest.sources.limits import DEFAULT_LIMITS
from hlodb.ingest.sources.units import read_tar_units, read_zip_units

GOOD = "module_0001.f.before_optimizations.txt"
HLO = b"HloModule f\n"
SOUND = {GOOD: HLO}

LINK = "a link; links are not followed"
DEVICE = "neither file nor folder"
OUT = "its name leads out of the archive"
GROWS = "grows to more than 1,000 times its size when decompressed, the limit"


def read(
    packed: bytes, limits: Limits = DEFAULT_LIMITS
) -> tuple[list[str], list[RefusedFile]]:
    """Read an archive: (paths of files read, what was refused)."""
    form = read_zip_units if packed[:2] == b"PK" else read_tar_units
    refused: list[RefusedFile] = []
    units = form(lambda: io.BytesIO(packed), "a", limits, refused.append)
    return [file.path for unit in units for file in unit.files], refused
