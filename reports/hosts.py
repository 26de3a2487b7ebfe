"""Hosts that folders alone tell apart, as sql/parts/hosts.sql has it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from hlodb.reports.facts import Module

_HOST_AND_PID = re.compile(r".*/([^/]+_[0-9]+)")


def hosts(modules: Iterable[Module]) -> dict[str, str]:
    """Give the host of each folder that others hold files of the same names beside.

    No process writes a file twice. Of `module/host_pid` the last part is the host.
    """
    folders: dict[tuple[int | None, str], set[str]] = defaultdict(set)
    for module in modules:
        folder, _, file = module.path.rpartition("/")
        folders[module.rank, file].add(folder)
    alike = {f for found in folders.values() if len(found) > 1 for f in found}
    return {folder: _HOST_AND_PID.sub(r"\1", folder) for folder in alike}
