"""Programs → dumps of their own: each is compiled in a process with limits.

XLA may crash, hang or fill the memory; that costs the program alone. The process is one
of the chosen interpreter, and runs `worker.py`, which imports JAX but nothing of hlodb.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from hlodb.replay.interpreters import Interpreter
from hlodb.replay.recover import Program
from hlodb.text import human_bytes

WORKER = Path(__file__).with_name("worker.py")


ELEMENT_TYPES = (
    *("f64", "f32", "bf16", "f16", "f8e4m3fn", "f8e5m2"),
    *("s64", "s32", "s16", "s8", "u64", "u32", "u16", "u8"),
)
"""Types that the worker can give to arrays."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What is changed before a program is compiled: nothing by default.

    `mlir` is StableHLO to compile instead. `narrow` has pairs of an element type, or
    numbers of parameters, and the type that they get. `shard` are parameters to divide
    over all partitions, `drop` results to leave out.
    `donate` are parameters to donate, or `auto` for all that an output can take.
    """

    mlir: bytes | None = None
    narrow: tuple[tuple[str | tuple[int, ...], str], ...] = ()
    shard: tuple[int, ...] = ()
    drop: tuple[int, ...] = ()
    donate: tuple[int, ...] | Literal["auto"] | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    topology: str | None = None


UNCHANGED = Edit()


class Bounds(NamedTuple):
    """What the process of one compilation may take."""

    seconds: float = 600.0
    memory_bytes: int = 16 << 30


DEFAULT_BOUNDS = Bounds()


class Compiled(NamedTuple):
    """What came of a program; `error` says why it was not compiled, or is empty."""

    program: Program
    error: str
    notes: tuple[str, ...] = ()


def compile_all(
    programs: Sequence[Program],
    interpreter: Interpreter,
    edit: Edit,
    folder: Path,
    *,
    jobs: int = 1,
    bounds: Bounds = DEFAULT_BOUNDS,
    progress: Callable[[str], None] | None = None,
) -> list[Compiled]:
    """Compile programs, and let XLA dump each below `folder`; give them in order."""
    if edit.mlir is not None:
        programs = [_with_module(program, edit.mlir) for program in programs]
    running: set[subprocess.Popen[bytes]] = set()

    def one(program: Program) -> Compiled:
        done = _compile(program, interpreter, edit, folder, bounds, running)
        if progress is not None:
            progress(program.key.name)
        return done

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(one, programs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                _kill(process)
            raise


def _with_module(program: Program, mlir: bytes) -> Program:
    """Return a program with another module, which has its own donations."""
    return replace(program, form="mlir", data=mlir, aliases=(), donors=(), notes=())


def _compile(
    program: Program,
    interpreter: Interpreter,
    edit: Edit,
    folder: Path,
    bounds: Bounds,
    running: set[subprocess.Popen[bytes]],
) -> Compiled:
    topology = edit.topology or program.topology
    if topology == "":
        return Compiled(program, "the dump does not say for which TPUs: pass --device")
    with TemporaryDirectory(prefix="hlodb-replay-") as name:
        job = Path(name)
        source = f"program.{program.form}"
        (job / source).write_bytes(program.data)
        asked = _job(program, edit, topology, source, bounds)
        if program.gpu is not None and topology is None:
            (job / _TARGET).write_text(program.gpu, "utf-8")
        (job / "job.json").write_text(json.dumps(asked), "utf-8")
        command = [str(interpreter.path), "-I", str(WORKER), str(job)]
        environment = _environment(program, topology)
        with (job / "log").open("wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment, cwd=job, start_new_session=True,
            )  # fmt: skip
            running.add(process)
            try:
                code = process.wait(bounds.seconds)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                if process.poll() is None:
                    _kill(process)
                running.discard(process)
        said = _result(job / "result.json")
        error = _error(said, code, job / "log", bounds)
        if (job / _DUMP).is_dir():
            _renumber(job / _DUMP, program.key.number)
            shutil.copytree(job / _DUMP, folder / program.place)
    notes = said.get("notes", []) if said else []
    return Compiled(program, error, (*program.notes, *map(str, notes)))


def _job(
    program: Program, edit: Edit, topology: str | None, source: str, bounds: Bounds
) -> dict[str, Any]:
    return {
        "source": source,
        "replicas": program.replicas,
        "partitions": program.partitions,
        "topology": topology,
        "target": _TARGET if topology is None and program.gpu is not None else None,
        "build_options": dict(program.build_options),
        "flags": {**program.flags, **edit.flags},
        "required_flags": list(edit.flags),
        "aliases": program.aliases,
        "donors": program.donors,
        "narrow": edit.narrow,
        "shard": edit.shard,
        "drop": edit.drop,
        "donate": edit.donate,
        "memory_bytes": bounds.memory_bytes,
        "parent": os.getpid(),
    }


_DUMP = "dump"
"""Where XLA dumps, below the folder of the job: its flags cannot hold a space."""

_TARGET = "gpu_target_config.pbtxt"
"""What the compiler has to know of a GPU, beside the job."""

_FOREIGN = re.compile(r"XLA_.*|LIBTPU_INIT_ARGS|JAX_.*|PYTHON.*|TPU_.*")
"""Variables that would change what is compiled."""

_FOR_A_GPU = {
    "JAX_PLATFORMS": "cuda,cpu",
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}
"""A driver is not needed; where there is one, memory is left to others."""

_WITHOUT_A_TPU = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}


def _environment(program: Program, topology: str | None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not _FOREIGN.fullmatch(k)}
    flags = [f"--xla_dump_to={_DUMP}", *program.dump_flags]
    if topology is None and program.gpu is None:
        count = program.replicas * program.partitions
        flags.append(f"--xla_force_host_platform_device_count={count}")
    given = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": " ".join(flags)}
    if topology is not None:
        given |= _WITHOUT_A_TPU
    elif program.gpu is not None:
        given |= _FOR_A_GPU
    return kept | given


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _result(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _error(
    said: Mapping[str, Any] | None, code: int | None, log: Path, bounds: Bounds
) -> str:
    """Return why a program was not compiled; empty where it was."""
    if code is None:
        return f"it took longer than {bounds.seconds:g} seconds: pass --timeout"
    if said is not None:
        return str(said.get("error") or "")
    last = log.read_bytes()[-_LOG_BYTES:].decode("utf-8", "replace")
    said_last = _reason(last.strip().splitlines())
    words = f": {said_last[:500]}" if said_last else ""
    if _NO_MEMORY.search(last):
        size = human_bytes(bounds.memory_bytes)
        words += f" (it may take {size}: pass --memory for more)"
    if code < 0:
        return f"the compiler crashed ({signal.Signals(-code).name}){words}"
    return f"the compiler ended with exit code {code}{words}"


_LOG_BYTES = 64_000
_REASON = re.compile(r"^F\d{4} |Check failed|terminate called|what\(\)|Error:", re.I)
_FRAME = re.compile(r"\s*(?:@ |\*\*\*|PC:|#\d)")
_NO_MEMORY = re.compile(
    r"bad_alloc|out of memory|allocation .*failed|MemoryError", re.I
)


def _reason(lines: list[str]) -> str:
    """Return the line of a log that says why, or the last one that is no frame."""
    plain = [line for line in lines if line.strip() and not _FRAME.match(line)]
    return next(filter(_REASON.search, plain), plain[-1] if plain else "")


_NUMBERED = re.compile(r"module_(\d{4,})(?=\.)")


def _renumber(dump: Path, number: int) -> None:
    """Rename the files of a program to the number that it had in the first dump."""
    names = {path: _NUMBERED.match(path.name) for path in dump.iterdir()}
    found = {path: int(match[1]) for path, match in names.items() if match}
    if number < 0 or not found:
        return
    shift = number - min(found.values())
    for path in sorted(found, key=found.__getitem__, reverse=shift > 0):
        new = f"module_{found[path] + shift:04d}"
        path.rename(path.with_name(_NUMBERED.sub(new, path.name, count=1)))
