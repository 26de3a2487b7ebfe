"""Compiled JAX programs into the warehouse, without dump flags.

    compiled = jax.jit(f).lower(*arguments).compile()
    hlodb.capture(compiled, run="nightly-7", db="w.duckdb")

A program becomes the files of a dump: its HLO text, its HloProto with the buffer
assignment where the backend gives one, and its memory analysis. JAX is not imported.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hlodb.errors import UsageError
from hlodb.ingest.formats.memory_reports.memory_analysis import MEMORY_STATS
from hlodb.ingest.formats.proto.executable import hlo_of_executable
from hlodb.ingest.formats.proto.hlo_pb2 import HloProto
from hlodb.ingest.load.run_records import RunRequest, RunSummary
from hlodb.ingest.pipeline.ingest import ingest_sources
from hlodb.ingest.recognise.recognition import recognise
from hlodb.ingest.sources.archives import Refuse
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.sources.units import DumpFile, Unit, keys_of
from hlodb.printed_commands import default_db
from hlodb.queries.new_warehouse import provide_warehouse
from hlodb.queries.renewal import renew_macros
from hlodb.schema.open_readers import let_readers_step_aside

_ANALYSIS = "memory_analysis.json"
_NAME = re.compile(r"HloModule\s+([^\s,]+)")
_NOT_IN_NAMES = re.compile(r"[/\\\[\] ]")


def capture(
    compiled: Any,
    *,
    run: str,
    db: str | Path | None = None,
    series: str | None = None,
    commit: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> RunSummary:
    """Store a `jax.stages.Compiled` in the run called `run`; give what the run holds.

    A run may take any number of programs; the same one again changes nothing. `db` is
    $HLODB_DB unless named, else hlodb.duckdb; what `hlodb.open` gave in this process
    may stay open. Raises UsageError where `compiled` has no HLO text, WarehouseError as
    `hlodb ingest` does.
    """
    labelled = _labels(compiled) | dict(labels or {})
    request = RunRequest(run, series, commit, labelled)
    return _store(captured_files(compiled), request, db)


def capture_program(
    program: Any, arguments: Sequence[Any], *, run: str, db: str | Path
) -> RunSummary:
    """Compile a function and store it, as `capture` does; give what the run holds.

    `program` may also be a `jax.stages.Lowered` or `Compiled`. Where JAX does not give
    the buffer assignment of what is compiled here, as for a TPU, XLA dumps it. Raises
    what the compiler does.
    """
    with TemporaryDirectory(prefix="hlodb-dump-") as folder:
        compiled = _compiled(program, arguments, folder)
        files = captured_files(compiled)
        if not any(path.endswith(".hlo.pb") for path in files):
            dumped = {p.name: p.read_bytes() for p in Path(folder).glob("*.txt")}
            if any("-buffer-assignment" in name for name in dumped):
                stats = {Path(p).name: data for p, data in files.items()}
                files = dumped | {_ANALYSIS: stats.get(_ANALYSIS, b"[]")}
    return _store(files, RunRequest(run, None, None, _labels(compiled)), db)


def _store(
    files: Mapping[str, bytes], request: RunRequest, db: str | Path | None
) -> RunSummary:
    source = RunSource(
        str(request.name),
        "hlodb.capture",
        len(files),
        _read=lambda refuse: _units(files, refuse),
    )
    file = Path(db or default_db())
    let_readers_step_aside(file)
    provide_warehouse(file)
    summaries = ingest_sources(
        [source], file, request=request, jobs=1, prepare=renew_macros
    )
    return summaries[0]


def _compiled(program: Any, arguments: Sequence[Any], folder: str) -> Any:
    """Return a `jax.stages.Compiled`; what XLA dumps of it goes into `folder`."""
    if hasattr(program, "lower") or not hasattr(program, "as_text"):
        program = _jitted(program).lower(*arguments)
    if not hasattr(program, "compile"):
        return program
    try:
        return program.compile(
            {"xla_dump_to": folder, "xla_dump_hlo_as_text": True},
        )
    except Exception as error:
        # Not every release takes these options; another fault is raised again below.
        if is_out_of_memory(error):
            raise
    return program.compile()


def is_out_of_memory(error: Exception) -> bool:
    """Return whether a compiler of XLA refused a program for lack of memory."""
    return "RESOURCE_EXHAUSTED" in str(error)


def _jitted(function: Any) -> Any:
    if hasattr(function, "lower"):
        return function
    import jax

    return jax.jit(function)


def captured_files(compiled: Any) -> dict[str, bytes]:
    """Return the files that a dump of the program would hold, by their paths.

    They lie in a folder called after the program and the digest of its text.
    """
    text = _told(lambda: compiled.as_text())
    if not isinstance(text, str) or not (found := _NAME.search(text)):
        raise UsageError(
            "capture wants a jax.stages.Compiled, as jax.jit(f).lower(…).compile()"
            f" gives it; {type(compiled).__name__} has no HLO text"
        )
    name = _NOT_IN_NAMES.sub("_", found[1])
    folder = f"{name}-{sha256(text.encode()).hexdigest()[:12]}"
    stem = f"{folder}/{name}.after_optimizations"
    stats = _told(lambda: compiled.memory_analysis())
    files = {
        f"{stem}.txt": text.encode(),
        f"{stem}.hlo.pb": _hlo_proto(compiled, stats),
        f"{folder}/{_ANALYSIS}": _analysis(found[1], stats),
    }
    return {path: data for path, data in files.items() if data}


def _told(ask: Callable[[], Any]) -> Any:
    """Return JAX's answer; a backend without one raises errors of its own."""
    try:
        return ask()
    except Exception:
        return None


def _hlo_proto(compiled: Any, stats: Any) -> bytes:
    """Return module and buffer assignment as one message; b"" without an assignment."""
    assignment = getattr(stats, "serialized_buffer_assignment_proto", None)
    module = _told(
        lambda: (
            compiled.runtime_executable()
            .hlo_modules()[0]
            .as_serialized_hlo_module_proto()
        )
    )
    if not isinstance(assignment, bytes) or not assignment:
        return _serialized_hlo(compiled)
    if not isinstance(module, bytes):
        return b""
    message = HloProto()
    message.hlo_module.MergeFromString(module)
    message.buffer_assignment.MergeFromString(assignment)
    data: bytes = message.SerializeToString(deterministic=True)
    return data


def _serialized_hlo(compiled: Any) -> bytes:
    """Return the same from the serialized executable, as jaxlib before 0.6 needs it.

    A TPU's holds the module after code generation, which is another one than its text.
    """
    executable = _told(lambda: compiled.runtime_executable())
    data = _told(lambda: executable.client.serialize_executable(executable))
    found = hlo_of_executable(data) if isinstance(data, bytes) else None
    return found.hlo if found is not None and found.platform != "tpu" else b""


def _analysis(module_name: str, stats: Any) -> bytes:
    names = sorted(MEMORY_STATS.values())
    said = {name: getattr(stats, name, None) for name in names}
    sizes = {name: size for name, size in said.items() if isinstance(size, int)}
    if not sizes:
        return b""
    return json.dumps([{"module": module_name, **sizes}], indent=1).encode()


def _labels(compiled: Any) -> dict[str, str]:
    device = _told(lambda: compiled.runtime_executable().local_devices()[0])
    said = {
        "framework_version": getattr(sys.modules.get("jax"), "__version__", None),
        "compiler_version": getattr(sys.modules.get("jaxlib"), "__version__", None),
        "platform": getattr(device, "platform", None),
        "device": getattr(device, "device_kind", None),
    }
    return {name: value for name, value in said.items() if isinstance(value, str)}


def _units(files: Mapping[str, bytes], refuse: Refuse) -> Iterator[Unit]:
    now = time.time()
    groups: dict[Any, list[DumpFile]] = {}
    for path, key in keys_of(files).items():
        file = DumpFile(path, files[path], recognise(path, files[path]), now)
        groups.setdefault(key, []).append(file)
    for key in sorted(groups):
        yield Unit(key, tuple(groups[key]))
