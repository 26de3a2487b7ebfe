"""Snapshots of executions among the files of a run: which of them tell of a module.

The flag that asks for them turns off text and protos, so that mostly they are all that
there is of a module. But each execution leaves one, with the same module in it.
"""

from __future__ import annotations

from hlodb.ingest.file_names import split_name
from hlodb.ingest.formats.hlo_snapshot import module_of_snapshot
from hlodb.ingest.unit_files import UnitFile
from hlodb.ingest.units import Unit

REPEATED = "its module is in another file, or in the snapshot of another execution"


def tells_nothing(unit: Unit, file: UnitFile) -> bool:
    """Tell whether a file is a snapshot of a module that another file has.

    A second snapshot of a module stands alone, though its name says whose it is.
    """
    if file.recognised.kind != "hlo_snapshot":
        return False
    kinds = {other.recognised.kind for other in unit.files}
    is_second = bool(unit.key.file) and split_name(file.path).kind == "hlo_snapshot"
    return is_second or not kinds.isdisjoint(("hlo_text", "hlo_proto"))


def without_arguments(file: UnitFile) -> UnitFile:
    """Give a file as it is parsed: of a snapshot the module alone is left."""
    if file.recognised.kind != "hlo_snapshot":
        return file
    module = module_of_snapshot(file.data)
    left_out = len(file.data) - len(module)
    return file._replace(data=module, left_out_bytes=left_out)
