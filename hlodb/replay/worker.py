"""Compile one program with the JAX of this interpreter: `python worker.py FOLDER`.

FOLDER/job.json says how; FOLDER/result.json is written at the end. XLA dumps what
XLA_FLAGS names. The program is compiled and never run. The script imports JAX and
nothing of hlodb, because it runs in environments that have no hlodb.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any


def main(folder: Path) -> None:
    """Compile the program of a job, and write what came of it."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    Thread(target=_end_with, args=(job["parent"],), daemon=True).start()
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


def _end_with(parent: int) -> None:
    """End this process and what it started when the one that started it has ended."""
    while os.getppid() == parent:
        sleep(1)
    os.killpg(0, signal.SIGKILL)


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
    target = source.with_name(job["target"]).read_text() if job["target"] else None
    devices = _devices(jax, job["topology"], target, count, notes)
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(_stable_hlo(source))
        _take_tuple_apart(ir, module)
        _drop_empty_tilings(module)
        if job["aliases"] or job["donors"]:
            _restore_aliases(ir, module, job["aliases"], job["donors"])
        for what, name in job["narrow"]:
            if isinstance(what, str):
                notes.append(_narrow(ir, module, what, name))
            else:
                notes.append(_narrow_parameters(ir, module, what, name))
        if job["shard"]:
            notes.append(_shard(ir, module, job["shard"], job["partitions"]))
        if job["drop"]:
            notes.append(_drop(ir, module, job["drop"]))
        if job["donate"] is not None:
            notes.append(_donate(ir, module, job["donate"], job["partitions"]))
        module.operation.verify()
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


def _devices(
    jax: Any, topology: str | None, target: str | None, count: int, notes: list[str]
) -> list[Any]:
    from jax.experimental import topologies

    if target is not None:
        found = _gpus(jax, topologies, target, count, notes)
    elif topology is None:
        found = jax.devices("cpu")
    else:
        found = topologies.get_topology_desc(
            platform="tpu", topology_name=topology
        ).devices
    if len(found) < count:
        raise ValueError(f"the program needs {count} devices, there are {len(found)}")
    return list(found[:count])


def _gpus(
    jax: Any, topologies: Any, target: str, count: int, notes: list[str]
) -> list[Any]:
    """Return this machine's GPUs if they are of the dump's kind, else made-up ones.

    Only with a GPU can the compiler choose kernels by running them.
    """
    found: list[Any] = []
    with suppress(RuntimeError):
        found = jax.devices("cuda")
    if len(found) >= count and f'"{found[0].device_kind}"' in target:
        return found
    notes.append("compiled without the GPU: its kernels are not tuned")
    described = topologies.get_topology_desc(
        platform="cuda",
        topology_name="",
        target_config=target,
        topology=f"1x{count}x1",
    )
    return list(described.devices)


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


def _drop_empty_tilings(module: Any) -> None:
    """Drop tilings that say nothing, which plugins of the same release may not know.

    jaxlib converts HLO with them, and a plugin takes StableHLO of an earlier version.
    """
    name = "result_tilings"
    for operation in list(_operations(module.operation)):
        if name in operation.attributes and not any(operation.attributes[name]):
            del operation.attributes[name]


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


def _take_tuple_apart(ir: Any, module: Any) -> None:
    """Return the parts of the tuple that jaxlib 0.4 makes of all outputs, as JAX does.

    It keeps aliases beside the function, by the places of the tuple: they go, too.
    """
    main = _main(module)
    end = _return(main.regions[0].blocks[0])
    if [str(t)[:6] for t in main.type.results] != ["tuple<"]:
        return
    whole = ir.OpResult(end.operands[0]).owner
    if not whole.name.endswith(".tuple"):
        return
    ir.Operation.create(
        end.name, operands=list(whole.operands), ip=ir.InsertionPoint(end)
    )
    end.erase()
    whole.erase()
    for name in ("mhlo.input_output_alias", "mhlo.buffer_donor"):
        if name in module.operation.attributes:
            del module.operation.attributes[name]
    if "res_attrs" in main.attributes:
        del main.attributes["res_attrs"]
    _renew_function_type(ir, main.operation)


def _restore_aliases(
    ir: Any, module: Any, aliases: list[list[int]], donors: list[int]
) -> None:
    """Mark the donations of a program, which get lost on the way from HLO to MLIR."""
    main = _main(module)
    marks = _marks(ir, main)
    for output, parameter in aliases:
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
    inputs, outputs = ([str(one) for one in side] for side in _sides(main))
    taken = {_value(ir, mark[_ALIAS]) for mark in marks if _ALIAS in mark}
    free = [n for n, m in enumerate(marks) if _ALIAS not in m and _DONOR not in m]
    if isinstance(wanted, str):
        chosen = list(free)
    else:
        _refuse_beyond(wanted, len(inputs), "parameter")
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
    if not donated:
        return "nothing donated: no free parameter has the type of a free output"
    return f"donated {_listed('parameter', donated)}"


_ALIAS, _DONOR = "tf.aliasing_output", "jax.buffer_donor"
"""Marks of a parameter: the output that takes its buffer; a buffer to be reused."""


def _main(module: Any) -> Any:
    for operation in module.body.operations:
        attributes = operation.attributes
        if "sym_name" in attributes and attributes["sym_name"].value == "main":
            return operation
    raise ValueError("the module has no function main")


def _marks(
    ir: Any, main: Any, of: str = "arg_attrs", count: int | None = None
) -> list[dict[str, Any]]:
    """Return the attributes of each parameter, or of each of `count` results."""
    if of not in main.attributes:
        return [{} for _ in range(len(main.type.inputs) if count is None else count)]
    found = ir.ArrayAttr(main.attributes[of])
    return [{a.name: a.attr for a in ir.DictAttr(each)} for each in found]


def _set_marks(
    ir: Any, main: Any, marks: list[dict[str, Any]], of: str = "arg_attrs"
) -> None:
    each = [ir.DictAttr.get(mark) for mark in marks]
    main.attributes[of] = ir.ArrayAttr.get(each)


def _number(ir: Any, number: int) -> Any:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)


def _value(ir: Any, number: Any) -> int:
    return int(ir.IntegerAttr(number).value)


_ELEMENTS = {
    "f64": "f64",
    "f32": "f32",
    "bf16": "bf16",
    "f16": "f16",
    "f8e4m3fn": "f8E4M3FN",
    "f8e5m2": "f8E5M2",
    "s64": "i64",
    "s32": "i32",
    "s16": "i16",
    "s8": "i8",
    "u64": "ui64",
    "u32": "ui32",
    "u16": "ui16",
    "u8": "ui8",
}
"""Element type of HLO → its name in MLIR."""

_ARRAYS = {
    "bf16": "bfloat16",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}
"""Element types that NumPy has from JAX."""

_FIXED = re.compile(r"\w+\.(bitcast_convert|fft|uniform_\w+|infeed|outfeed|send|recv)")
"""Operations whose types follow from something other than their operands."""

_MARKERS = re.compile(
    r"Sharding|SPMD\w+|xla\.sdy\.\w+|annotate_device_placement|LayoutConstraint"
    r"|MoveTo\w+"
)
"""Custom calls that return what they are given."""


def _narrow(ir: Any, module: Any, what: str, name: str) -> str:
    """Replace an element type; return what keeps the old one.

    Operations that cannot have it are computed in the old type, between conversions.
    """
    old, new = (ir.Type.parse(_ELEMENTS[one]) for one in (what, name))
    operations = list(_operations(module.operation))
    values = [value for one in operations for value in _own_values(one)]
    if not any(_has(ir, value.type, old) for value in values):
        return f"there is no array of {what} to narrow"
    fixed: list[Any] = []
    for one in operations:
        if _keeps_types(ir, one, old, fixed):
            fixed.append(one)
    given = [
        (one, [_is_array(ir, operand.type, old) for operand in one.operands])
        for one in fixed
    ]
    wide = [r for one in fixed for r in one.results if _is_array(ir, r.type, old)]
    for one in operations:
        if one not in fixed:
            _retype(ir, one, old, new, name)
    for one, are_wide in given:
        for place, is_wide in enumerate(are_wide):
            if is_wide:
                narrow = one.operands[place]
                again = _converted(ir, narrow, old, ir.InsertionPoint(one))
                one.operands[place] = again.result
    for value in wide:
        _convert_uses(ir, value, new)
    for one in operations:
        if "function_type" in one.attributes:
            _renew_function_type(ir, one)
    counts: dict[str, int] = {}
    for one, are_wide in given:
        if any(are_wide) or any(_has(ir, r.type, old) for r in one.results):
            counts[_named(one)] = counts.get(_named(one), 0) + 1
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    kept = f"; still {what}: {listed}" if listed else ""
    return f"{what} narrowed to {name}, which changes what is computed{kept}"


def _operations(operation: Any) -> Iterator[Any]:
    """Yield an operation and all that are in it."""
    yield operation
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _operations(inner.operation)


def _own_values(operation: Any) -> Iterator[Any]:
    """Yield the results of an operation and the arguments of its blocks."""
    yield from operation.results
    for region in operation.regions:
        for block in region.blocks:
            yield from block.arguments


def _is_array(ir: Any, type_: Any, element: Any) -> bool:
    return isinstance(type_, ir.RankedTensorType) and type_.element_type == element


def _has(ir: Any, type_: Any, element: Any) -> bool:
    """Whether a type is an array of an element type, or a tuple with one."""
    if isinstance(type_, ir.TupleType):
        parts = [type_.get_type(n) for n in range(type_.num_types)]
        return any(_has(ir, part, element) for part in parts)
    return _is_array(ir, type_, element)


def _keeps_types(ir: Any, operation: Any, old: Any, fixed: list[Any]) -> bool:
    """Whether an operation has to keep its types; `fixed` are earlier ones that do."""
    if operation.name.endswith(".get_tuple_element"):
        return operation.operands[0].owner in fixed
    if operation.name == "stablehlo.constant":
        return not isinstance(operation.attributes["value"], ir.DenseElementsAttr)
    if operation.name == "stablehlo.custom_call":
        return _MARKERS.fullmatch(_target(operation)) is None
    if _FIXED.fullmatch(operation.name) or "algorithm" in operation.attributes:
        return True
    arrays = [
        value.type.element_type
        for value in (*operation.operands, *operation.results)
        if isinstance(value.type, ir.RankedTensorType)
    ]
    parts = {str(one.element_type) for one in arrays if isinstance(one, ir.ComplexType)}
    return str(old) in parts and any(one == old for one in arrays)


def _target(operation: Any) -> str:
    return str(operation.attributes["call_target_name"].value)


def _named(operation: Any) -> str:
    if operation.name == "stablehlo.custom_call":
        return f"custom call of {_target(operation)}"
    return str(operation.name).partition(".")[2]


def _retype(ir: Any, operation: Any, old: Any, new: Any, name: str) -> None:
    if operation.name == "stablehlo.constant":
        value = operation.attributes["value"]
        if _is_array(ir, value.type, old):
            operation.attributes["value"] = _constant(ir, value, new, name)
    for value in _own_values(operation):
        if _has(ir, value.type, old):
            value.set_type(_replaced(ir, value.type, old, new))


def _replaced(ir: Any, type_: Any, old: Any, new: Any) -> Any:
    """Return a type with another element type wherever it has the old one."""
    if isinstance(type_, ir.TupleType):
        parts = [type_.get_type(n) for n in range(type_.num_types)]
        return ir.TupleType.get_tuple([_replaced(ir, p, old, new) for p in parts])
    return _with_element(ir, type_, new) if _is_array(ir, type_, old) else type_


def _with_element(ir: Any, type_: Any, element: Any) -> Any:
    return ir.RankedTensorType.get(type_.shape, element, type_.encoding)


def _constant(ir: Any, value: Any, element: Any, name: str) -> Any:
    """Return a constant with another element type."""
    import jax.numpy as jnp
    import numpy as np

    type_ = _with_element(ir, value.type, element)
    array = np.array(value.get_splat_value().value if value.is_splat else value)
    plain = {"s": "int", "u": "uint", "f": "float"}[name[0]] if name[0] in "suf" else ""
    with np.errstate(over="ignore"):
        array = array.astype(jnp.dtype(_ARRAYS.get(name) or f"{plain}{name[1:]}"))
    if value.is_splat and name[0] in "su":
        one = ir.IntegerAttr.get(element, int(array))
        return ir.DenseElementsAttr.get_splat(type_, one)
    if value.is_splat:
        one = ir.FloatAttr.get(element, float(array))
        return ir.DenseElementsAttr.get_splat(type_, one)
    if name in _ARRAYS:
        array = array.view(f"uint{8 * array.itemsize}")
    return ir.DenseElementsAttr.get(
        np.ascontiguousarray(array), type=element, shape=type_.shape
    )


def _converted(ir: Any, value: Any, element: Any, place: Any) -> Any:
    """Return a new operation that converts a value."""
    return ir.Operation.create(
        "stablehlo.convert",
        results=[_with_element(ir, value.type, element)],
        operands=[value],
        ip=place,
    )


def _convert_uses(ir: Any, value: Any, element: Any) -> None:
    """Let all users of a result read it in another element type."""
    made = value.owner.operation
    again = _converted(ir, value, element, ir.InsertionPoint(made))
    again.move_after(made)
    value.replace_all_uses_except(again.result, again)


def _renew_function_type(ir: Any, function: Any) -> None:
    """Make the type of a function that of its parameters and results."""
    if not function.regions or not function.regions[0].blocks:
        return
    block = function.regions[0].blocks[0]
    inputs = [argument.type for argument in block.arguments]
    results = [operand.type for operand in _return(block).operands]
    type_ = ir.FunctionType.get(inputs, results)
    function.attributes["function_type"] = ir.TypeAttr.get(type_)


def _return(block: Any) -> Any:
    *_, last = block.operations
    return last.operation


def _narrow_parameters(ir: Any, module: Any, numbers: list[int], name: str) -> str:
    """Change the element type of parameters, and of results that take their place."""
    main = _main(module)
    element = ir.Type.parse(_ELEMENTS[name])
    block = main.regions[0].blocks[0]
    end = _return(block)
    _refuse_beyond(numbers, len(block.arguments), "parameter")
    partners = _partners(ir, main)
    results = []
    for number in numbers:
        argument = block.arguments[number]
        wide = argument.type.element_type
        if _bits(ir, wide) <= _bits(ir, element):
            raise ValueError(f"parameter {number} is of {wide}, no wider than {name}")
        argument.set_type(_with_element(ir, argument.type, element))
        place = ir.InsertionPoint.at_block_begin(block)
        again = _converted(ir, argument, wide, place)
        argument.replace_all_uses_except(again.result, again)
        if (result := partners.get(number)) is not None:
            _narrow_result(ir, end, result, element)
            results.append(result)
    _renew_function_type(ir, main.operation)
    said = f"narrowed to {name}: {_listed('parameter', numbers)}"
    return f"{said}, {_listed('result', results)}" if results else said


def _narrow_result(ir: Any, end: Any, place: int, element: Any) -> None:
    """Return a result in a narrower type; all that read it read it from there.

    Otherwise XLA may keep the wide array for them, beside the narrow one.
    """
    value = end.operands[place]
    wide = value.type.element_type
    made = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation
    after = ir.InsertionPoint(end)
    narrow = _converted(ir, value, element, after)
    if not isinstance(made, ir.Block):
        narrow.move_after(made)
        again = _converted(ir, narrow.result, wide, after)
        again.move_after(narrow)
        value.replace_all_uses_except(again.result, narrow)
    end.operands[place] = narrow.result


def _bits(ir: Any, element: Any) -> int:
    """Return the size of an element; 0 where it is neither an integer nor real."""
    digits = re.search(r"\d+", str(element))
    return int(digits[0]) if digits and not isinstance(element, ir.ComplexType) else 0


def _partners(ir: Any, main: Any) -> dict[int, int]:
    """Return the result that updates each parameter.

    That is the one that takes its buffer. Where none is marked, and there are as many
    parameters of a type as results, those in the same place among them.
    """
    marks = _marks(ir, main)
    found = {n: _value(ir, m[_ALIAS]) for n, m in enumerate(marks) if _ALIAS in m}
    inputs, outputs = ([str(t) for t in side] for side in _sides(main))
    for type_ in set(inputs):
        of_type = [n for n, t in enumerate(inputs) if t == type_ and n not in found]
        taken = set(found.values())
        free = [n for n, t in enumerate(outputs) if t == type_ and n not in taken]
        if len(of_type) == len(free):
            found.update(zip(of_type, free, strict=True))
    return found


def _sides(main: Any) -> tuple[list[Any], list[Any]]:
    return list(main.type.inputs), list(main.type.results)


def _drop(ir: Any, module: Any, numbers: list[int]) -> str:
    """Leave results of the program out; what only they need is not computed."""
    main = _main(module)
    end = _return(main.regions[0].blocks[0])
    count = len(end.operands)
    _refuse_beyond(numbers, count, "result")
    kept = [n for n in range(count) if n not in numbers]
    ir.Operation.create(
        end.name,
        operands=[end.operands[n] for n in kept],
        ip=ir.InsertionPoint(end),
    )
    end.erase()
    if "res_attrs" in main.attributes:
        attributes = ir.ArrayAttr(main.attributes["res_attrs"])
        again = ir.ArrayAttr.get([attributes[n] for n in kept])
        main.attributes["res_attrs"] = again
    marks = _marks(ir, main)
    for mark in marks:
        if _ALIAS not in mark:
            continue
        taken = _value(ir, mark.pop(_ALIAS))
        if taken in kept:
            mark[_ALIAS] = _number(ir, kept.index(taken))
    _set_marks(ir, main, marks)
    _renew_function_type(ir, main.operation)
    return f"left out: {_listed('result', numbers)}"


_SDY, _GSPMD = "sdy.sharding", "mhlo.sharding"
_FRONTEND, _KEPT_SDY = "mhlo.frontend_attributes", "xla.sdy.sharding"
"""Marks of a parameter or result: its sharding, as Shardy and GSPMD write it; HLO keeps
that of Shardy as text."""


def _shard(ir: Any, module: Any, numbers: list[int], partitions: int) -> str:
    """Divide parameters over all partitions, and results that take their place."""
    main = _main(module)
    inputs, outputs = _sides(main)
    _refuse_beyond(numbers, len(inputs), "parameter")
    meshes, is_kept = _meshes(module)
    marks = _marks(ir, main)
    of_results = _marks(ir, main, "res_attrs", len(outputs))
    partners = _partners(ir, main)
    divided = []
    for number in numbers:
        mark, sizes = marks[number], list(inputs[number].shape)
        if not _divide(ir, mark, sizes, meshes, is_kept, partitions):
            continue
        divided.append(number)
        result = partners.get(number)
        if result is not None and of_results[result].keys() & {_SDY, _GSPMD}:
            sizes = list(outputs[result].shape)
            _divide(ir, of_results[result], sizes, meshes, is_kept, partitions)
    if not divided:
        raise ValueError(f"{_listed('parameter', numbers)} cannot be divided further")
    _set_marks(ir, main, marks)
    if any(of_results):
        _set_marks(ir, main, of_results, "res_attrs")
    return f"divided over {partitions} partitions: {_listed('parameter', divided)}"


def _meshes(module: Any) -> tuple[dict[str, dict[str, int]], bool]:
    """Return the axes of Shardy's meshes, and whether they are kept as HLO does."""
    operations = [one.operation for one in module.body.operations]
    texts = [str(one) for one in operations if one.name == "sdy.mesh"]
    is_kept = not texts
    if is_kept and _FRONTEND in module.operation.attributes:
        kept = module.operation.attributes[_FRONTEND]
        texts += [one.attr.value for one in kept if one.name == "xla.sdy.meshes"]
    found = re.findall(r"@?([\w.]+) = (?:#sdy\.mesh)?<\[([^\]]*)\]", "\n".join(texts))
    meshes = {
        name: {axis: int(n) for axis, n in re.findall(r'"([^"]+)"=(\d+)', axes)}
        for name, axes in found
    }
    return meshes, is_kept


def _divide(
    ir: Any,
    mark: dict[str, Any],
    sizes: list[int],
    meshes: dict[str, dict[str, int]],
    is_kept: bool,
    partitions: int,
) -> bool:
    """Let a sharding use all partitions; return whether it could use more of them."""
    kept = {one.name: one.attr for one in mark.get(_FRONTEND, ())}
    if _SDY in mark:
        said = str(mark[_SDY])
    elif _KEPT_SDY in kept:
        said = kept[_KEPT_SDY].value
    elif _GSPMD in mark and mark[_GSPMD].value.startswith("{mesh["):
        return _divide_named(ir, mark, sizes)
    elif mesh := next((name for name in meshes if meshes[name]), None):
        said = f"#sdy.sharding<@{mesh}, [{', '.join('{}' for _ in sizes)}]>"
    else:
        return _divide_whole(ir, mark, sizes, partitions)
    new = _divided(said, sizes, meshes)
    if new is None:
        return False
    if _SDY not in mark and (_KEPT_SDY in kept or is_kept):
        kept[_KEPT_SDY] = ir.StringAttr.get(new)
        mark[_FRONTEND] = ir.DictAttr.get(kept)
        mark.pop(_GSPMD, None)  # It says the same of the old sharding.
    else:
        mark[_SDY] = ir.Attribute.parse(new)
    return True


_SHARDING = re.compile(r"<@([\w.]+), \[(.*?)\](?:, replicated=\{[^}]*\})?")
_NAMED = re.compile(r"\{mesh\[([^\]]*)\], \[(.*?)\](?:, replicated=\{[^}]*\})?\}")
"""Shardings by axes: of Shardy, and as HLO has them since jaxlib 0.12."""


def _divided(
    said: str, sizes: list[int], meshes: dict[str, dict[str, int]]
) -> str | None:
    """Return a sharding of Shardy that uses the other axes of its mesh, too."""
    found = _SHARDING.search(said)
    if found is None or found[1] not in meshes:
        return None
    parts = _further(found[2], sizes, meshes[found[1]], '"')
    if parts is None:
        return None
    return f"{said[: found.start()]}<@{found[1]}, [{parts}]{said[found.end() :]}"


def _further(
    said: str, sizes: list[int], axes: dict[str, int], quote: str
) -> str | None:
    """Return the axes of each dimension, with those that none has yet.

    Each axis divides the largest part that it can.
    """
    if ":" in said:  # A part of an axis.
        return None
    parts = [
        re.findall(f"{quote}([^{quote}]+){quote}", one)
        for one in re.findall(r"{([^}]*)}", said)
    ]
    local = list(sizes)
    for place, names in enumerate(parts):
        for name in names:
            local[place] //= axes.get(name, 1)
    used = {name for names in parts for name in names}
    is_new = False
    for axis, size in axes.items():
        fitting = [n for n, left in enumerate(local) if left and left % size == 0]
        if axis in used or size < 2 or not fitting:
            continue
        place = max(fitting, key=local.__getitem__)
        parts[place].append(axis)
        local[place] //= size
        is_new = True
    quoted = [", ".join(f"{quote}{n}{quote}" for n in names) for names in parts]
    return ", ".join(f"{{{one}}}" for one in quoted) if is_new else None


def _divide_named(ir: Any, mark: dict[str, Any], sizes: list[int]) -> bool:
    """Divide an array whose sharding in HLO names its axes."""
    found = _NAMED.fullmatch(mark[_GSPMD].value)
    if found is None:
        return False
    axes = {name: int(n) for name, n in re.findall(r"'([^']+)'=(\d+)", found[1])}
    parts = _further(found[2], sizes, axes, "'")
    if parts is None:
        return False
    mark[_GSPMD] = ir.StringAttr.get(f"{{mesh[{found[1]}], [{parts}]}}")
    return True


def _divide_whole(
    ir: Any, mark: dict[str, Any], sizes: list[int], partitions: int
) -> bool:
    """Divide an array that GSPMD holds whole on each device."""
    if _GSPMD in mark and mark[_GSPMD].value != "{replicated}":
        return False
    fitting = [n for n, size in enumerate(sizes) if size and size % partitions == 0]
    if not fitting:
        return False
    tiles = [1] * len(sizes)
    tiles[max(fitting, key=sizes.__getitem__)] = partitions
    listed = ",".join(map(str, tiles))
    text = f"{{devices=[{listed}]<=[{partitions}]}}"
    mark[_GSPMD] = ir.StringAttr.get(text)
    return True


def _refuse_beyond(numbers: list[int], count: int, what: str) -> None:
    if beyond := [number for number in numbers if number >= count]:
        raise ValueError(f"no {what} {beyond[0]}: the last is {count - 1}")


def _listed(what: str, numbers: Iterable[int]) -> str:
    ordered = sorted(numbers)
    return f"{what}{'s' * (len(ordered) > 1)} {', '.join(map(str, ordered))}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
