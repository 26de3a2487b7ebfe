"""What reports know of runs, modules and buffers: plain records, read by `read`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple


class Run(NamedTuple):
    """A run; `labels` is its JSON text, `device_memory_bytes` what the dump says."""

    run_id: int
    name: str
    series: str | None
    started_at: datetime | None
    commit_sha: str | None
    branch: str | None
    compiler_version: str | None
    framework_version: str | None
    platform: str | None
    device: str | None
    device_memory_bytes: int | None
    topology: str | None
    labels: str | None
    ingested_at: datetime | None


class Module(NamedTuple):
    """The last snapshot of a compiled module, and what it was compiled from.

    A row of the query `compilations`: `place` is its place in the run. `source_*` is
    None where a dump has no snapshot before optimisations. `first_number` is that of
    its first snapshots, where it was given another on the way. `rank` is the one by
    which it is compared, `own_rank` that of its files.
    """

    run_id: int
    place: int
    module_id: int
    locations_id: int | None
    module_number: int | None
    first_number: int | None
    rank: int | None
    own_rank: int | None
    program: str
    program_key: int | None
    platform: str | None
    num_partitions: int | None
    entry_shapes: str | None
    source_shapes: str | None
    graph_fingerprint: int | None
    exact_fingerprint: int | None
    source_id: int | None
    source_graph: int | None
    path: str
    has_assignment: bool

    @property
    def inputs(self) -> tuple[str | None, str | None, int | None]:
        """Entry shapes, those of the source, and partitions."""
        return self.entry_shapes, self.source_shapes, self.num_partitions

    @property
    def earliest_id(self) -> int:
        """The snapshot before optimisations, this one where a dump has no such."""
        return self.module_id if self.source_id is None else self.source_id


class Profile(NamedTuple):
    """Memory of one module in one space; live figures None without live ranges."""

    module_id: int
    color: int
    space_name: str
    reserved_bytes: int
    parameter_bytes: int
    constant_bytes: int
    live_out_bytes: int
    thread_local_bytes: int
    temp_bytes: int
    temp_live_peak_bytes: int | None
    live_peak_bytes: int | None
    peak_step: int | None
    fragmentation_bytes: int | None
    padding_bytes: int | None
    conflict_count: int


Profiles = Mapping[int, Mapping[int, Profile]]
"""Profiles by module and memory space."""


def reserved(module: Module, color: int, profiles: Profiles) -> int:
    """Return the reserved bytes of a module in a memory space, 0 where it uses none."""
    profile = profiles.get(module.module_id, {}).get(color)
    return profile.reserved_bytes if profile else 0
