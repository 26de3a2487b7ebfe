"""Profiles: the modules in their metadata plane."""

from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.proto.hlo_pb2 import XSpace
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.formats.proto.xplane import parse_xplane
from tests.ingest.formats.proto.proto_pairs import DATA, pairs

PAIRS = {pair.name: pair for pair in pairs(DATA / "cpu-jaxlib-0.10.2.tar.xz")}
RING = PAIRS["module_0071.jit_ring.cpu_after_optimizations"]
STAGE = PAIRS["module_0027.jit_stage.cpu_after_optimizations"]


def profile(
    stat_name: bytes = b"Hlo Proto", plane_name: bytes = b"/host:metadata"
) -> bytes:
    """Return a profile as XLA's profiler writes it: host threads, then metadata."""
    space = XSpace()
    space.planes.add(name=b"/host:CPU").event_metadata[1].name = b"TfrtCpuExecutable"
    plane = space.planes.add(name=plane_name)
    plane.stat_metadata[1].name = b"jax_version"
    plane.stat_metadata[4].name = stat_name
    for number, pair in ((71, RING), (27, STAGE)):
        event = plane.event_metadata[number]
        event.name = b"%s(%d)" % (pair.name.split(".")[1].encode(), number)
        event.stats.add(metadata_id=1, bytes_value=b"0.10.2")
        event.stats.add(metadata_id=4, bytes_value=pair.message)
    plane.event_metadata[99].name = b"no module"
    return space.SerializeToString()


def test_the_programs_of_a_profile_come_by_number() -> None:
    expected = [STAGE.message, RING.message]
    for stat_name in (b"Hlo Proto", b"hlo_proto"):
        parsed = parse_xplane(profile(stat_name))
        assert (parsed.modules, parsed.rejects) == (expected, [])


def test_a_module_of_a_profile_reads_like_one_of_a_dump() -> None:
    message = parse_xplane(profile()).modules[1]
    assert parse_hlo_proto(message) == parse_hlo_proto(RING.message)


def test_a_profile_without_modules_is_no_error() -> None:
    for data in (b"", profile(plane_name=b"/device:TPU:0"), profile(b"kpi")):
        parsed = parse_xplane(data)
        assert (parsed.modules, parsed.rejects) == ([], [])


def test_a_truncated_profile_gives_what_is_whole() -> None:
    parsed = parse_xplane(profile()[:-10])
    assert [r.code for r in parsed.rejects] == ["broken_message"]
    assert set(parsed.modules) <= {RING.message, STAGE.message}


@given(st.binary(max_size=300))
def test_any_bytes_end_in_modules_or_rejects(data: bytes) -> None:
    parsed = parse_xplane(data)
    assert parsed.modules == [] or parsed.rejects == []
