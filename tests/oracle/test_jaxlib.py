"""XLA itself as judge: what jaxlib's own parser reads in a text, and what ours does.

`make oracle` runs these; they are skipped where jaxlib is not installed. jaxlib's
module of HLO is private, and its place and powers change between releases.
"""

import importlib
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.records import NO_ATTRIBUTES, Frame, HloModule, Instruction
from tests.conftest import SHARED_ARCHIVES
from tests.ingest.formats.proto.proto_pairs import DATA, members
from tests.oracle.hlo_texts import HERE, PINNED, archived_texts, loose_texts

pytestmark = pytest.mark.oracle

_HOMES = ("jaxlib._hlo", "jaxlib._jax", "jaxlib.xla_extension")
_ASYNC = {
    "kAsyncStart": "async-start",
    "kAsyncUpdate": "async-update",
    "kAsyncDone": "async-done",
}

# A field of GPU configurations that 0.10 has no more, and leaves out as it reads them.
_FORGOTTEN = '"wait_on_operation_queues":[],'

# What later releases write for what earlier ones wrote, once they have read it.
_RESPELT = (
    ("type=TOTALORDER", "order=TOTAL"),  # comparisons, since 0.11.2
    (", is_stable=true", ""),  # what they take every topk for, since 0.11.2
    (", has_dynamic_root=false", ""),  # broadcasts, since 0.12; no proto says it
    ("has_dynamic_root=false", ""),
    ("origin={[synthetic_call]}", 'origin={(),[""]}'),  # since 0.12
    (' metadata={op_type="sdy::reduction_op" op_name="SUM"}', ""),  # since 0.12
)

# What a text says of its module's configuration, and XLA doesn't serialise.
_CONFIGURATION = (
    "alias_passthrough_params",
    "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters",
    "num_partitions",
    "replica_count",
)


@pytest.fixture(scope="module")
def hlo() -> Any:
    """jaxlib's module that reads HLO text."""
    for name in _HOMES:
        try:
            home = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(home, "hlo_module_from_text"):
            return home
    pytest.skip("jaxlib is not installed: `make oracle` installs it")


def _name(archive: Path) -> str:
    return "/".join(archive.parts[-3:])


SOURCES = [
    pytest.param(None, id="loose"),
    *(pytest.param(archive, id=_name(archive)) for archive in HERE),
    *(
        pytest.param(archive, id=_name(archive), marks=pytest.mark.shared)
        for archive in SHARED_ARCHIVES
    ),
]


def accepted(hlo: Any, archive: Path | None) -> Iterator[tuple[str, str, Any]]:
    """Yield the texts that jaxlib reads, each with its module.

    The release that is pinned reads all that are no newer; older ones refuse more. With
    the newest release `make newest` compares what it writes.
    """
    refused = []
    found = loose_texts() if archive is None else archived_texts(archive)
    for name, text in found:
        try:
            module = hlo.hlo_module_from_text(text)
        except Exception as error:
            refused.append(f"{name}: {error}")
            continue
        yield name, text, module
    if version("jaxlib") == PINNED and not _is_newer(archive):
        assert refused == []
    elif refused:
        pytest.skip(f"jaxlib {version('jaxlib')} refuses {len(refused)} texts")


def _is_newer(archive: Path | None) -> bool:
    """Return whether an archive is named after a later release than the pinned one."""
    found = re.search(r"\d+\.\d+\.\d+", "" if archive is None else archive.name)
    return found is not None and _numbers(found[0]) > _numbers(PINNED)


def _numbers(release: str) -> list[int]:
    return [int(number) for number in release.split(".")]


@pytest.mark.parametrize("archive", SOURCES)
def test_names_opcodes_and_shapes_are_those_jaxlib_reads(
    hlo: Any, archive: Path | None
) -> None:
    if not hasattr(hlo, "HloInstruction"):
        pytest.skip(f"jaxlib {version('jaxlib')} doesn't show its instructions")
    for name, text, theirs in accepted(hlo, archive):
        (ours,) = parse_hlo(text).modules
        assert {
            computation.name: sorted(map(_outline, computation.instructions()))
            for computation in theirs.computations()
        } == {
            computation.name: sorted(
                (i.name, i.opcode, i.shape)
                for i in ours.instructions[computation.start : computation.stop]
            )
            for computation in ours.computations
        }, name


def _outline(instruction: Any) -> tuple[str, str, str]:
    """Return name, opcode and shape from `%name = shape opcode(…`."""
    name, _, rest = instruction.to_string().partition(" = ")
    end = _closing(rest) if rest.startswith("(") else rest.index(" ")
    opcode = rest[end:].strip().partition("(")[0]
    # jaxlib writes `negate-start` for an async-start of a negate.
    opcode = _ASYNC.get(str(instruction.opcode).rpartition(".")[2], opcode)
    return name.lstrip("%"), opcode, rest[:end]


def _closing(text: str) -> int:
    depth = 0
    for place, character in enumerate(text, 1):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place
    raise AssertionError(text)


@pytest.mark.parametrize("archive", SOURCES)
def test_every_field_is_what_jaxlib_serialises(hlo: Any, archive: Path | None) -> None:
    for name, text, module in accepted(hlo, archive):
        theirs = parse_hlo_proto(module.as_serialized_hlo_module_proto())
        (ours,) = parse_hlo(text).modules
        assert theirs.module is not None
        assert theirs.rejects == []
        assert fields_of(theirs.module) == fields_of(ours), name
        assert _header(theirs.module, ours) == _header(ours, ours), name


_NO_SIGN = re.compile(r"(?<![\w.])-0(?![\w.])")


def fields_of(module: HloModule) -> dict[str, tuple[Any, ...]]:
    """Return the instructions of each computation by name.

    Content identifies frames: XLA numbers them anew, equal ones as one. What an
    async-start wraps takes over its attributes when XLA reads the short form of both.
    """
    chains = _chains(module.frames)
    wrapped = {
        name
        for i in module.instructions
        if i.opcode == "async-start"
        for call in i.calls
        for name in call.computations
    }
    return {
        computation.name: (
            computation.is_entry,
            computation.execution_thread,
            sorted(
                (
                    _framed(_bare(i) if computation.name in wrapped else i, chains)
                    for i in _of(module, computation)
                ),
                key=lambda pair: pair[0].name,
            ),
        )
        for computation in module.computations
    }


def _bare(instruction: Instruction) -> Instruction:
    return instruction._replace(attributes=NO_ATTRIBUTES)


def _of(module: HloModule, computation: Any) -> list[Instruction]:
    return list(module.instructions[computation.start : computation.stop])


def _framed(
    instruction: Instruction, chains: dict[int | None, tuple[Any, ...]]
) -> tuple[Instruction, tuple[Any, ...]]:
    attributes = instruction.attributes
    if attributes.backend_config and _FORGOTTEN in attributes.backend_config:
        config = attributes.backend_config.replace(_FORGOTTEN, "")
        attributes = attributes._replace(backend_config=config)
        instruction = instruction._replace(attributes=attributes)
    if attributes.other or attributes.sharding:
        # Short texts, until 2025, name instructions without `%`.
        other = _respelt(attributes.other or "", instruction.opcode).replace("%", "")
        sharding = _respelt(attributes.sharding or "", instruction.opcode)
        attributes = attributes._replace(other=other or None, sharding=sharding or None)
        instruction = instruction._replace(attributes=attributes)
    if instruction.literal:  # XLA reads a whole number, which has no sign.
        literal = _NO_SIGN.sub("0", instruction.literal)
        instruction = instruction._replace(literal=literal)
    location = instruction.location
    if location is None:
        return instruction, ()
    chain = chains[location.stack_frame_id]
    return instruction._replace(location=location._replace(stack_frame_id=None)), chain


def _respelt(said: str, opcode: str) -> str:
    for early, late in _RESPELT:
        if early != ", is_stable=true" or opcode == "topk":
            said = said.replace(early, late)
    return said


def _chains(frames: tuple[Frame, ...]) -> dict[int | None, tuple[Any, ...]]:
    by_id = {frame.stack_frame_id: frame for frame in frames}
    chains: dict[int | None, tuple[Any, ...]] = {None: ()}
    for number in by_id:
        chain = []
        at: int | None = number
        while at is not None:
            frame = by_id[at]
            chain.append(frame[2:])
            at = frame.parent_id
        chains[number] = tuple(chain)
    return chains


def _header(module: HloModule, text: HloModule) -> dict[str, str]:
    """Return the header of the text and of XLA's serialisation, without blanks."""
    return {
        key: value.replace(" ", "")
        for key, value in module.header.items()
        if key not in _CONFIGURATION and key in text.header
    }


@pytest.mark.parametrize(
    ("folder", "release"), [(DATA, PINNED), (DATA.parent / "newest", "0.12.0.1")]
)
def test_the_archive_of_opcodes_is_what_jaxlib_makes_of_its_source(
    hlo: Any, folder: Path, release: str
) -> None:
    archived = members(folder / f"opcodes-jaxlib-{release}.tar.xz")
    if version("jaxlib") != release:
        pytest.skip(f"made by jaxlib {release}; here is {version('jaxlib')}")
    module = hlo.hlo_module_from_text((folder / "opcodes.hlo").read_text())
    assert module.to_string() == archived["opcodes.txt"].decode()
    message = module.as_serialized_hlo_module_proto()
    made, kept = parse_hlo_proto(message), parse_hlo_proto(archived["opcodes.hlo.pb"])
    assert made.module == kept.module
