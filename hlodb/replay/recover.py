"""A run → the programs that XLA was given, with their options, as the dump holds them.

A program is taken from `module.mlir`, which the framework handed over, else from the
text or the message of `before_optimizations`. Dumps are untrusted: programs are bytes
for a compiler in a process of its own, names become plain file names, and flags that
name files are left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, TypeAlias

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.config.flags import parse_flags
from hlodb.ingest.formats.config.target import parse_target
from hlodb.ingest.formats.hlo_text.header import aliases, header_number, parse_header
from hlodb.ingest.formats.proto.hlo_pb2 import HloProto
from hlodb.ingest.formats.text_proto import (
    Field,
    messages,
    parse_text_proto,
    text_at,
    texts,
)
from hlodb.ingest.recognise.file_names import split_name
from hlodb.ingest.recognise.recognition import Recognised
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.sources.units import DumpFile

Form: TypeAlias = Literal["mlir", "txt", "pb"]
"""How a program is written: StableHLO, HLO text, HloModuleProto."""

SOURCES: dict[Form, str] = {
    "mlir": "module.mlir",
    "txt": "text before optimizations",
    "pb": "message before optimizations",
}
"""Where a program of each form comes from, the best first."""


class Key(NamedTuple):
    """What names of files of one program share; `prefix` is a time or a process."""

    folder: str
    prefix: str
    number: int
    name: str
    cl: str


@dataclass(frozen=True, slots=True)
class Program:
    """A program that can be compiled again.

    `place` is where its new dump goes below that of the run. `aliases` are pairs
    (output, parameter); `donors` are parameters whose buffer XLA may use. `flags` are
    those that were not at their default. `topology` is the slice of TPUs as JAX names
    it, `v5e:2x2`; None for a CPU, empty where the dump of a TPU names none. `gpu` is
    the GpuTargetConfigProto of a GPU as text, None for other devices.
    `dump_flags` ask XLA for the forms that the dump has. `notes` say what may make the
    replay inexact.
    """

    key: Key
    place: str
    form: Form
    data: bytes
    replicas: int = 1
    partitions: int = 1
    build_options: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[tuple[int, int], ...] = ()
    donors: tuple[int, ...] = ()
    topology: str | None = None
    gpu: str | None = None
    dump_flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Unrecoverable(NamedTuple):
    """A program that cannot be compiled again, and why."""

    key: Key
    place: str
    reason: str


@dataclass(slots=True)
class _Found:
    """What the files of one program say."""

    sources: dict[Form, bytes] = field(default_factory=dict)
    compile_options: str = ""
    debug_options: str = ""
    target: str = ""
    gpu_target: str = ""
    platform: str = ""
    kinds: set[str] = field(default_factory=set)
    stages: set[str] = field(default_factory=set)


def recover(source: RunSource) -> tuple[list[Program], list[Unrecoverable]]:
    """Return the programs of a run, in their order, and those that are lost."""
    found: dict[Key, _Found] = defaultdict(_Found)
    inputs: dict[tuple[str, str], dict[str, bytes]] = defaultdict(dict)
    for unit in source.units():
        for file in unit.files:
            _note(file, found, inputs)
    _join_inputs(found, inputs)
    programs: list[Program] = []
    lost: list[Unrecoverable] = []
    places: Counter[str] = Counter()
    for key in sorted(found):
        made = _program(key, found[key], places)
        if isinstance(made, Program):
            programs.append(made)
        elif made is not None:
            lost.append(made)
    return programs, lost


def program_key(path: str, file: Recognised) -> Key:
    """Return the program of a file, by its path in the run."""
    number = -1 if file.module_number is None else file.module_number
    folder = path.rpartition("/")[0]
    prefix = split_name(path).prefix
    return Key(folder, prefix, number, file.module_name or "", file.cl or "")


_INPUTS = ("module.mlir", "compile_options.textproto")
_AFTER = "after_optimizations"


def _note(
    file: DumpFile,
    found: dict[Key, _Found],
    inputs: dict[tuple[str, str], dict[str, bytes]],
) -> None:
    """Keep what a file says of its program."""
    path, what = PurePosixPath(file.path), file.recognised
    if path.name in _INPUTS:
        home = path.parent.parent.as_posix()
        inputs["" if home == "." else home, path.parent.name][path.name] = file.data
        return
    if what.module_name is None or file.problem:
        return
    one = found[program_key(file.path, what)]
    one.kinds.add(what.kind)
    one.stages.add(what.stage or "")
    if what.platform_prefix:
        one.platform = what.platform_prefix
    if what.stage == "before_optimizations":
        forms: dict[str, Form] = {"hlo_text": "txt", "hlo_proto": "pb"}
        if what.kind in forms:
            one.sources[forms[what.kind]] = file.data
    elif what.kind == "debug_options":
        one.debug_options = _text(file.data)
    elif what.kind == "target_arguments":
        one.target = _text(file.data)
    elif what.kind == "gpu_target_config":
        one.gpu_target = _text(file.data)


def _join_inputs(
    found: dict[Key, _Found], inputs: dict[tuple[str, str], dict[str, bytes]]
) -> None:
    """Add to programs what the framework handed to PJRT, from folders of their own.

    Such a folder is called after the module, `module_0001.jit_f`; those of JAX 0.7 to
    0.9 are called `jit_f_1795666870358`, by the time of the compilation. These belong
    to the modules of that name in their order, if there are as many of them.
    """
    timed: dict[tuple[str, str], list[dict[str, bytes]]] = defaultdict(list)
    for (home, name), files in sorted(inputs.items()):
        if stem := re.fullmatch(r"module_(\d{4,})\.(.+?)(?:\.cl_(\d+))?", name):
            key = Key(home, "", int(stem[1]), stem[2], stem[3] or "")
            _add_inputs(found[key], files)
        elif of_time := re.fullmatch(r"(.+)_\d{10,}", name):
            timed[home, of_time[1]].append(files)
    for (home, name), several in timed.items():
        keys = [k for k in sorted(found) if (k.folder, k.name) == (home, name)]
        keys = [k for k in keys if found[k].sources]
        if len(keys) == len(several):
            for key, files in zip(keys, several, strict=True):
                _add_inputs(found[key], files)


def _add_inputs(one: _Found, files: Mapping[str, bytes]) -> None:
    if "module.mlir" in files:
        one.sources["mlir"] = files["module.mlir"]
    one.compile_options = _text(files.get("compile_options.textproto", b""))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _program(
    key: Key, one: _Found, places: Counter[str]
) -> Program | Unrecoverable | None:
    """Return a program; None where the files are of no compilation."""
    form = next((form for form in SOURCES if form in one.sources), None)
    if form is None:
        if not any(stage.startswith(_AFTER) for stage in one.stages):
            return None
        return Unrecoverable(
            key,
            _place(key, places),
            "the dump has neither its module.mlir nor its before_optimizations,"
            " which a compilation cache does not keep",
        )
    is_tpu = bool(one.target or key.cl)
    is_gpu = not is_tpu and one.platform not in ("", "cpu")
    if is_gpu and parse_target("gpu_target_config", one.gpu_target).platform != "gpu":
        reason = (
            f"it was compiled for {one.platform}, and the dump has no"
            " gpu_target_config.pbtxt of an NVIDIA GPU, which replaces the device"
        )
        return Unrecoverable(key, _place(key, places), reason)
    topology = _topology(one.target) if is_tpu else None
    header = _header(one.sources)
    options = _build_options(one.compile_options)
    data = one.sources[form]
    notes = []
    if form == "txt" and b"constant({...})" in data:
        notes.append("the text leaves out the values of large constants")
    if form == "pb":
        module = _module_of(data)
        if module is None:
            reason = "the message before optimizations is broken"
            return Unrecoverable(key, _place(key, places), reason)
        data = module
    is_whole = form != "mlir"
    flags, left_out = _flags(one, "tpu" if is_tpu else "gpu" if is_gpu else "cpu")
    notes += [f"flag {name} names a file and is left out" for name in left_out]
    partitions = _count(one.sources, header, options, "partitions")
    build = {
        "use_shardy_partitioner": options.use_shardy
        if options.is_known
        else _uses_shardy(one.sources, partitions),
        **_propagation(header, options),
    }
    return Program(
        key=key,
        place=_place(key, places),
        form=form,
        data=data,
        replicas=_count(one.sources, header, options, "replicas"),
        partitions=partitions,
        build_options={**build, **options.others},
        flags={**flags, **options.overrides},
        aliases=_aliases(header) if is_whole else (),
        donors=_donors(header) if is_whole else (),
        topology=topology,
        gpu=one.gpu_target if is_gpu else None,
        dump_flags=tuple(_dump_flags(one)),
        notes=tuple(notes),
    )


class _Options(NamedTuple):
    """What compile_options.textproto says; `overrides` are jit's compiler_options."""

    is_known: bool = False
    replicas: int = 1
    partitions: int = 1
    use_shardy: bool = False
    to_parameters: tuple[bool, ...] = ()
    to_output: tuple[bool, ...] = ()
    overrides: Mapping[str, str] = {}
    others: Mapping[str, Any] = {}


_EFFORTS = ("optimization_level", "memory_fitting_level")
_EFFORT = re.compile(r"EFFORT_O([0-3])")


def _build_options(text: str) -> _Options:
    """Read what a framework chose. Debug options count where they are not default."""
    if not text:
        return _Options()
    fields = parse_text_proto(text).fields
    build = [
        one for found in messages(fields, "executable_build_options") for one in found
    ]
    efforts = {name: _EFFORT.fullmatch(text_at(build, name) or "") for name in _EFFORTS}
    return _Options(
        True,
        _whole(text_at(build, "num_replicas")),
        _whole(text_at(build, "num_partitions")),
        text_at(build, "use_shardy_partitioner") == "true",
        _booleans(texts(build, "allow_spmd_sharding_propagation_to_parameters")),
        _booleans(texts(build, "allow_spmd_sharding_propagation_to_output")),
        _overrides(fields),
        {name: int(found[1]) for name, found in efforts.items() if found},
    )


def _whole(text: str | None) -> int:
    return int(text) if text is not None and re.fullmatch(r"[1-9]\d{0,6}", text) else 1


def _booleans(words: Iterable[str]) -> tuple[bool, ...]:
    return tuple(word.strip() == "true" for word in words)


def _overrides(fields: Iterable[Field]) -> dict[str, str]:
    found = {}
    for entry in messages(fields, "env_option_overrides"):
        key = text_at(entry, "key")
        values = [one.value for value in messages(entry, "value") for one in value]
        value = values[0] if values else None
        if key and isinstance(value, str) and not _names_file(key, value):
            found[key] = value
    return found


def _header(sources: Mapping[Form, bytes]) -> Mapping[str, str]:
    """Return the fields of the HLO text's header, which says much of the options."""
    first = _text(sources.get("txt", b"")).lstrip().partition("\n")[0]
    return parse_header(first).fields if first.startswith("HloModule ") else {}


def _count(
    sources: Mapping[Form, bytes],
    header: Mapping[str, str],
    options: _Options,
    what: Literal["replicas", "partitions"],
) -> int:
    if options.is_known:
        return options.replicas if what == "replicas" else options.partitions
    if header:
        name = {"replicas": "replica_count", "partitions": "num_partitions"}[what]
        return max(header_number(header, name, 1), 1)
    if "mlir" in sources:
        head = sources["mlir"][: 1 << 20]
        found = re.search(rb"mhlo\.num_%s = (\d{1,6}) :" % what.encode(), head)
        return max(int(found[1]), 1) if found else 1
    message = HloProto.FromString(sources["pb"]).hlo_module.device_assignment
    count = {"replicas": message.replica_count, "partitions": message.computation_count}
    return max(count[what], 1)


def _propagation(
    header: Mapping[str, str], options: _Options
) -> dict[str, list[bool] | None]:
    """Return whether shardings may spread to parameters and output, one by one."""
    found: dict[str, list[bool] | None] = {}
    chosen = {"to_parameters": options.to_parameters, "to_output": options.to_output}
    for side, said in chosen.items():
        name = f"allow_spmd_sharding_propagation_{side}"
        if not said and name in header:
            said = _booleans(header[name].strip("{} ").split(","))
        found[name] = list(said) or None
    return found


def _uses_shardy(sources: Mapping[Form, bytes], partitions: int) -> bool | None:
    """Return whether a program has marks of Shardy; None for one partition."""
    marks = (b"sdy.mesh", b"xla.sdy.", b"sdy.sharding")
    if any(mark in data for data in sources.values() for mark in marks):
        return True
    return False if partitions > 1 else None


def _aliases(header: Mapping[str, str]) -> tuple[tuple[int, int], ...]:
    """Return pairs of output and parameter; parts of tuples have no such pair."""
    found = [a for a in aliases(header) if a.output_index is not None]
    pairs = [
        (int(a.output_index.strip("{}") or 0), a.parameter_number)
        for a in found
        if a.output_index is not None
        and a.parameter_index == "{}"
        and re.fullmatch(r"\{\d*\}", a.output_index)
    ]
    return tuple(pairs)


def _donors(header: Mapping[str, str]) -> tuple[int, ...]:
    return tuple(a.parameter_number for a in aliases(header) if a.output_index is None)


def _module_of(data: bytes) -> bytes | None:
    try:
        module: bytes = HloProto.FromString(data).hlo_module.SerializeToString()
    except DecodeError:
        return None
    return module or None


_TOPOLOGIES = {
    "TPU v2": "v2",
    "TPU v3": "v3",
    "TPU v4": "v4",
    "TPU v5e": "v5e",
    "TPU v5p": "v5p",
    "TPU v6e": "v6e",
    "TPU7x": "tpu7x",
}
"""Device of a dump → the chip in JAX's name of a topology."""

_FLAT = ("v5e", "v6e")
"""Chips whose slices have two axes."""


def _topology(target: str) -> str:
    """Return the slice that a program was compiled for; empty if it is not said."""
    said = parse_target("target_arguments", target)
    chip = _TOPOLOGIES.get((said.device or "").removesuffix(" (one core)"))
    if chip is None or said.topology is None:
        return ""
    bounds = said.topology.split("x")
    return f"{chip}:{'x'.join(bounds[:2] if chip in _FLAT else bounds)}"


_FILE_FLAG = re.compile(
    r"dump|path|file|dir$|dir_|_to$|_from$|extra_options|plugin|denylist|override_gemm"
)
_BY_JAX = frozenset(
    (
        "xla_cpu_enable_fast_min_max",
        "xla_detailed_logging",
        "xla_force_host_platform_device_count",
        "xla_gpu_cuda_data_dir",
    )
)
"""What JAX sets itself, or replay by the number of devices."""

_OTHERS = {
    "tpu": ("xla_gpu_", "xla_cpu_"),
    "gpu": ("xla_cpu_", "xla_tpu_"),
    "cpu": ("xla_gpu_", "xla_tpu_"),
}
"""Beginnings of flags of other backends than that of a program."""


def _names_file(name: str, value: str) -> bool:
    return "/" in value or _FILE_FLAG.search(name) is not None


def _flags(one: _Found, platform: str) -> tuple[dict[str, str], list[str]]:
    """Return the flags that are not at their default, and names of those left out."""
    kept, left_out = {}, []
    for name, value in parse_flags("debug_options", one.debug_options).flags:
        if name in _BY_JAX or "dump" in name or name.startswith(_OTHERS[platform]):
            continue
        if _names_file(name, value):
            left_out.append(name)
        else:
            kept[name] = value
    return kept, left_out


def _dump_flags(one: _Found) -> Iterator[str]:
    yield "--xla_dump_hlo_as_text"
    if "hlo_proto" in one.kinds:
        yield "--xla_dump_hlo_as_proto"
    if "pass" in one.stages:
        yield _AFTER_PASSES


_AFTER_PASSES = "--xla_dump_hlo_pass_re=.*"


def dumped_after_passes(program: Program) -> Program:
    """Return a program that asks XLA for a dump after every pass that changes it."""
    flags = dict.fromkeys((*program.dump_flags, _AFTER_PASSES))
    return replace(program, dump_flags=tuple(flags))


def _safe(part: str) -> str:
    return re.sub(r"[^\w.=+-]", "_", part)[:120]


def _place(key: Key, places: Counter[str]) -> str:
    """Return a relative folder for the dump of a program, which no other one has."""
    number = f"module_{key.number:04d}." if key.number >= 0 else ""
    prefix = f"{key.prefix}." if key.prefix else ""
    parts = [*key.folder.split("/"), f"{prefix}{number}{key.name}"]
    safe = [_safe(part) for part in parts if part.strip(".")]
    place = "/".join(safe)
    places[place] += 1
    return place if places[place] == 1 else f"{place}_{places[place]}"
