"""HloProto: equal to the text of the same module, in every field that both carry."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.ingest.formats.proto.hlo_pb2 import HloProto
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.records import HloModule, Instruction
from tests.conftest import SHARED
from tests.ingest.formats.proto.known_pairs import ALL, CG, MISC
from tests.ingest.formats.proto.proto_pairs import DATA, SETS, Pair, in_one_order, pairs

# Part of a module's configuration, which no message holds.
TEXT_ONLY_HEADER = (
    "alias_passthrough_params",
    "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters",
)


def as_in_text(module: HloModule, text: HloModule) -> HloModule:
    """Leave out of a message's module what the text of its release does not print."""
    if text.frames:
        return module
    return replace(
        module, frames=(), instructions=[_without_frame(i) for i in module.instructions]
    )


def _without_frame(instruction: Instruction) -> Instruction:
    if instruction.location is None:
        return instruction
    location = instruction.location._replace(stack_frame_id=None)
    is_empty = all(part is None for part in location)
    return instruction._replace(location=None if is_empty else location)


def as_in_proto(module: HloModule) -> HloModule:
    """Leave out of a text's module what no message holds."""
    header = {k: v for k, v in module.header.items() if k not in TEXT_ONLY_HEADER}
    return replace(module, header=header)


def check_pair(pair: Pair) -> None:
    parsed = parse_hlo_proto(pair.message)
    text = pair.module()
    assert parsed.rejects == []
    assert parsed.module is not None
    assert as_in_text(parsed.module, text) == as_in_proto(text)
    assignment = pair.assignment()
    if assignment is None or parsed.assignment is None:
        assert assignment is parsed.assignment
    else:
        assert in_one_order(parsed.assignment) == in_one_order(assignment)


@pytest.mark.parametrize("name", ALL)
def test_a_message_says_what_the_text_says(name: str) -> None:
    check_pair(ALL[name])


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", SETS)
def test_every_message_of_the_full_dumps_says_what_its_text_says(name: str) -> None:
    checked = 0
    for pair in pairs(SHARED / "proto" / f"{name}.tar.xz"):
        check_pair(pair)
        checked += 1
    assert checked == {"cpu": 22, "tpu": 35}[name[:3]]


def test_a_bare_module_reads_like_one_in_its_envelope() -> None:
    whole = parse_hlo_proto(CG.message)
    message = HloProto.FromString(CG.message).hlo_module.SerializeToString()
    bare = parse_hlo_proto(message)
    assert bare.rejects == []
    assert bare.module == whole.module
    assert bare.assignment is None


def test_an_assignment_without_its_module_keeps_its_allocations() -> None:
    message = HloProto.FromString(CG.message)
    message.ClearField("hlo_module")
    parsed = parse_hlo_proto(message.SerializeToString())
    assert parsed.assignment is not None
    text = CG.assignment()
    assert text is not None
    assert [a.size_bytes for a in parsed.assignment.allocations] == [
        a.size_bytes for a in text.allocations
    ]
    assert [r.code for r in parsed.rejects] == ["unknown_place", "unsound"]


def test_names_that_are_no_utf_8_are_kept_readable() -> None:
    message = HloProto.FromString(CG.message)
    message.hlo_module.name = b"jit_caf\xe9"
    module = parse_hlo_proto(message.SerializeToString()).module
    assert module is not None
    assert module.name == "jit_caf\ufffd"


def test_until_2023_values_are_defined_at_names() -> None:
    message = HloProto.FromString(CG.message)
    names = {
        i.id: i.name
        for computation in message.hlo_module.computations
        for i in computation.instructions
    }
    places = [b.defined_at for b in message.buffer_assignment.logical_buffers]
    places += [a.location for a in message.buffer_assignment.buffer_aliases]
    for place in places:
        place.instruction_name = names[place.instruction_id]
        place.ClearField("instruction_id")
    old = parse_hlo_proto(message.SerializeToString())
    assert old.rejects == []
    assert old.assignment == parse_hlo_proto(CG.message).assignment


def test_numbers_of_32_and_64_bits_mean_the_same() -> None:
    message = HloProto.FromString(MISC.message)
    assert max(_numbers(message)) >= 1 << 32
    small = {number: at for at, number in enumerate(sorted(set(_numbers(message))), 1)}
    for computation in message.hlo_module.computations:
        computation.root_id = small[computation.root_id]
        for i in computation.instructions:
            i.id = small[i.id]
            i.operand_ids[:] = [small[o] for o in i.operand_ids]
            before = [small[c] for c in i.control_predecessor_ids]
            i.control_predecessor_ids[:] = before
    for sequence in message.hlo_module.schedule.sequences.values():
        sequence.instruction_ids[:] = [small[i] for i in sequence.instruction_ids]
    for buffer in message.buffer_assignment.logical_buffers:
        buffer.defined_at.instruction_id = small[buffer.defined_at.instruction_id]
    for alias in message.buffer_assignment.buffer_aliases:
        alias.location.instruction_id = small[alias.location.instruction_id]
    renumbered = parse_hlo_proto(message.SerializeToString())
    original = parse_hlo_proto(MISC.message)
    assert renumbered.module == original.module
    assert renumbered.assignment == original.assignment


def _numbers(message: HloProto) -> Iterator[int]:
    for computation in message.hlo_module.computations:
        yield from (i.id for i in computation.instructions)


def test_payloads_that_instructions_share_are_looked_up() -> None:
    message = HloProto.FromString(MISC.message)
    payloads: list[bytes] = []
    for computation in message.hlo_module.computations:
        for i in computation.instructions:
            if i.backend_config:
                payload = bytes([0x10]) + bytes([len(payloads)])
                payloads.append(i.backend_config)
                i.backend_config_payload = payload
                i.ClearField("backend_config")
    message.hlo_module.payloads[:] = payloads
    assert 10 < len(payloads) < 128
    shared = parse_hlo_proto(message.SerializeToString())
    assert shared.module == parse_hlo_proto(MISC.message).module


def test_constants_that_the_text_elides_are_told_apart() -> None:
    parsed = parse_hlo_proto(MISC.message)
    assert parsed.module is not None
    elided = parsed.elided_literals
    instructions = parsed.module.instructions
    assert {instructions[e.instruction_id].literal for e in elided} == {"{...}"}
    assert len(elided) == sum(i.literal == "{...}" for i in instructions)


def test_the_archives_hold_every_kind_of_stage() -> None:
    assert len(ALL) == 34
    assert sum(bool(pair.assignment_texts) for pair in ALL.values()) == 14
    assert Path(DATA / "README.md").is_file()
