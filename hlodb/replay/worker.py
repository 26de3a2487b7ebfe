"""Compile one program with the JAX of this interpreter: `python worker.py FOLDER`.

FOLDER/job.json says how; FOLDER/result.json is written at the end. XLA dumps what
XLA_FLAGS names. The program is compiled and never run. The script imports JAX and
nothing of hlodb, because it runs in environments that have no hlodb.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    """Compile the program of a job, and write what came of it."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    if limit := job["memory_bytes"]:
        with suppress(ValueError, OSError):  # Beyond what the user's own limit is.
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    result: dict[str, Any] = {"versions": {}, "notes": [], "error": None}
    try:
        result["versions"] = _versions()
        _compile(job, folder / job["source"], result["notes"])
    except MemoryError:
        result["error"] = f"it needs more than {limit} bytes to compile"
    except Exception as error:  # XLA and JAX raise errors of many kinds.
        result["error"] = f"{type(error).__name__}: {error}"[:20_000]
    (folder / "result.json").write_text(json.dumps(result), "utf-8")


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("jax", "jaxlib", "libtpu"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _compile(job: dict[str, Any], source: Path, notes: list[str]) -> None:
    import jax
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    count = job["replicas"] * job["partitions"]
    devices = _devices(jax, job["topology"], count)
    with mlir.make_ir_context():
        module = ir.Module.parse(_stable_hlo(source))
        if job["aliases"] or job["donors"]:
            _restore_aliases(ir, module, job["aliases"], job["donors"])
        if job["donate"] is not None:
            notes.append(_donate(ir, module, job["donate"], job["partitions"]))
        assignment = np.array([device.id for device in devices])
        while True:
            options = compiler.get_compile_options(
                num_replicas=job["replicas"],
                num_partitions=job["partitions"],
                device_assignment=assignment.reshape(job["replicas"], -1),
                env_options_overrides={n: _typed(v) for n, v in job["flags"].items()},
            )
            _set_build_options(options.executable_build_options, job)
            try:
                _backend_compile(compiler, devices, module, options)
                return
            except Exception as error:
                unknown = _unknown_flag(str(error), job["flags"])
                if unknown is None or unknown in job["required_flags"]:
                    raise
                del job["flags"][unknown]
                notes.append(f"this compiler has no flag {unknown}")


def _devices(jax: Any, topology: str | None, count: int) -> list[Any]:
    if topology is None:
        found = jax.devices("cpu")
    else:
        from jax.experimental import topologies

        found = topologies.get_topology_desc(
            platform="tpu", topology_name=topology
        ).devices
    if len(found) < count:
        raise ValueError(f"the program needs {count} devices, there are {len(found)}")
    return list(found[:count])


def _module(*names: str) -> Any:
    """Return the first of these modules that there is: jaxlib moves its own."""
    for name in names:
        with suppress(ImportError):
            return import_module(name)
    raise ImportError(f"no module {' or '.join(names)}")


def _stable_hlo(source: Path) -> Any:
    """Return the program as MLIR; HLO text and messages are converted."""
    data = source.read_bytes()
    if source.suffix == ".mlir":
        return data
    # HLO moved from _jax to _hlo in jaxlib 0.10; before 0.6 it was in xla_extension.
    older = ("jaxlib._jax", "jaxlib.xla_extension")
    extension, hlo = _module(*older), _module("jaxlib._hlo", *older)
    if source.suffix == ".txt":
        module = hlo.hlo_module_from_text(data.decode("utf-8", "replace"))
        data = module.as_serialized_hlo_module_proto()
    convert = extension.mlir.xla_computation_to_mlir_module
    return convert(hlo.XlaComputation(data))


def _set_build_options(build: Any, job: dict[str, Any]) -> None:
    """Set what the dump says of the options; None is what JAX would choose."""
    for name, value in job["build_options"].items():
        if value is not None and hasattr(build, name):
            setattr(build, name, value)


def _backend_compile(
    compiler: Any, devices: list[Any], module: Any, options: Any
) -> None:
    """Compile; JAX 0.7 gave executables that are not loaded a function of their own."""
    from jax._src.lib import xla_client

    client = devices[0].client
    load = getattr(compiler, "backend_compile_and_load", None)
    if load is None:
        compiler.backend_compile(client, module, options, [])
        return
    chosen = xla_client.DeviceList(tuple(devices))
    load(client, module, chosen, options, [])


def _typed(value: str) -> str | bool:
    """Return a flag's value; XLA takes booleans as such, and all others as text."""
    return {"true": True, "false": False}.get(value.lower(), value)


_UNKNOWN = re.compile(r"no such|unknown|unrecognized|not found|does not exist", re.I)


def _unknown_flag(message: str, flags: dict[str, str]) -> str | None:
    """Return the flag that a message says the compiler does not know."""
    if not _UNKNOWN.search(message):
        return None
    named = [name for name in flags if re.search(rf"\b{re.escape(name)}\b", message)]
    return named[0] if named else None


def _restore_aliases(
    ir: Any, module: Any, aliases: list[list[int]], donors: list[int]
) -> None:
    """Mark the donations of a program, which get lost on the way from HLO to MLIR."""
    main = _main(module)
    marks = _marks(ir, main)
    # jaxlib 0.4 makes one tuple of all outputs, and keeps aliases beside the function.
    is_tuple = any(str(one).startswith("tuple<") for one in main.type.results)
    for output, parameter in [] if is_tuple else aliases:
        marks[parameter][_ALIAS] = _number(ir, output)
    for parameter in donors:
        marks[parameter][_DONOR] = ir.BoolAttr.get(True)
    _set_marks(ir, main, marks)


def _donate(ir: Any, module: Any, wanted: list[int] | str, partitions: int) -> str:
    """Mark parameters as donated, as jax.jit does for donate_argnums; say which.

    An output takes the first donated parameter of its type. Where a program is
    partitioned, XLA pairs them: shardings decide as well.
    """
    main = _main(module)
    marks = _marks(ir, main)
    inputs = [str(one) for one in main.type.inputs]
    outputs = [str(one) for one in main.type.results]
    taken = {_value(ir, mark[_ALIAS]) for mark in marks if _ALIAS in mark}
    free = [n for n, m in enumerate(marks) if _ALIAS not in m and _DONOR not in m]
    if isinstance(wanted, str):
        chosen = list(free)
    elif beyond := [number for number in wanted if number >= len(inputs)]:
        last = len(inputs) - 1
        raise ValueError(f"no parameter {beyond[0]} to donate: the last is {last}")
    else:
        chosen = [number for number in wanted if number in free]
    donated = []
    for place, type_ in enumerate(outputs):
        fitting = [number for number in chosen if inputs[number] == type_]
        if place in taken or not fitting:
            continue
        number = fitting[0]
        chosen.remove(number)
        donated.append(number)
        if partitions > 1:
            marks[number][_DONOR] = ir.BoolAttr.get(True)
        else:
            marks[number][_ALIAS] = _number(ir, place)
    _set_marks(ir, main, marks)
    if not donated and any(one.startswith("tuple<") for one in outputs):
        return "nothing donated: this release makes one tuple of all outputs"
    if not donated:
        return "nothing donated: no free parameter has the type of a free output"
    named = ", ".join(map(str, sorted(donated)))
    return f"donated parameter{'s' if len(donated) > 1 else ''} {named}"


_ALIAS, _DONOR = "tf.aliasing_output", "jax.buffer_donor"
"""Marks of a parameter: the output that takes its buffer; a buffer to be reused."""


def _main(module: Any) -> Any:
    for operation in module.body.operations:
        attributes = operation.attributes
        if "sym_name" in attributes and attributes["sym_name"].value == "main":
            return operation
    raise ValueError("the module has no function main")


def _marks(ir: Any, main: Any) -> list[dict[str, Any]]:
    """Return the attributes of each parameter."""
    if "arg_attrs" not in main.attributes:
        return [{} for _ in main.type.inputs]
    found = ir.ArrayAttr(main.attributes["arg_attrs"])
    return [{a.name: a.attr for a in ir.DictAttr(each)} for each in found]


def _set_marks(ir: Any, main: Any, marks: list[dict[str, Any]]) -> None:
    each = [ir.DictAttr.get(mark) for mark in marks]
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(each)


def _number(ir: Any, number: int) -> Any:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)


def _value(ir: Any, number: Any) -> int:
    return int(ir.IntegerAttr(number).value)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
