"""Serialized executables by hand: every way in which they hold their HLO."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.proto.executable import (
    ExecutableHlo,
    begins_executable,
    hlo_of_executable,
)
from hlodb.ingest.formats.proto.wire import encoded

MODULE = encoded(1, b"jit_f") + encoded(2, b"main.1") + encoded(3, encoded(1, b"main"))
CONFIG = encoded(1, b"\x08\x01")
ALLOCATION = b"\x10\x40"
ASSIGNMENT = encoded(3, ALLOCATION)
WITH_CONFIG = encoded(1, MODULE) + encoded(2, CONFIG)
KERNELS = b"\x28\x02"
CPU = encoded(1, WITH_CONFIG) + encoded(2, ASSIGNMENT) + KERNELS
CLASSIC = encoded(1, WITH_CONFIG) + encoded(2, ASSIGNMENT) + encoded(3, b"main.62")
GPU = encoded(1, WITH_CONFIG) + encoded(2, ASSIGNMENT) + encoded(3, b"//\n.version 8")
EARLY_GPU = encoded(1, MODULE) + encoded(2, ASSIGNMENT) + encoded(5, CONFIG)
LISTED_GPU = encoded(1, WITH_CONFIG) + encoded(10, encoded(1, ALLOCATION))
HLO = encoded(1, MODULE) + encoded(3, ASSIGNMENT)
OPTIONS = encoded(2, b"\x18\x01")
PREFIX = b"\x12\x09pjrt_ifrt\x2a\x00"


def delimited(message: bytes) -> bytes:
    assert len(message) < 128
    return bytes([len(message)]) + message


@pytest.mark.parametrize(
    ("data", "platform"),
    [
        (CPU, "cpu"),
        (CLASSIC, "cpu"),
        (encoded(1, CPU) + OPTIONS, "cpu"),
        (b"\0\0\0\x2a" + encoded(1, CPU) + OPTIONS, "cpu"),
        (b"\0\0\0\0" + delimited(PREFIX) + encoded(1, CPU) + OPTIONS, "cpu"),
        (delimited(PREFIX) + encoded(1, GPU) + OPTIONS, "gpu"),
        (encoded(1, EARLY_GPU) + OPTIONS, "gpu"),
        (encoded(1, LISTED_GPU) + OPTIONS, "gpu"),
        (delimited(PREFIX) + delimited(b"\x10\x01") + encoded(6, HLO), "tpu"),
        (
            delimited(PREFIX) + delimited(b"\x10\x01") + delimited(encoded(6, HLO)),
            "tpu",
        ),
    ],
)
def test_module_and_assignment_of_every_form(data: bytes, platform: str) -> None:
    assert hlo_of_executable(data) == ExecutableHlo(HLO, platform)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0\5",
        PREFIX,
        delimited(PREFIX) + encoded(1, encoded(4, b"\x7fELF")),
        # Snapshots are read by another way: arguments are no assignment.
        encoded(1, encoded(1, MODULE)) + encoded(2, ASSIGNMENT),
        encoded(1, b"\x83\xafp\xd1\r\x88J?" + bytes(100)),
    ],
)
def test_executables_without_hlo(data: bytes) -> None:
    assert hlo_of_executable(data) is None


@pytest.mark.parametrize(
    "data",
    [
        CPU,
        b"\0\0\0\7" + encoded(1, CPU) + OPTIONS,
        b"\0\0\0\0" + delimited(PREFIX) + encoded(6, HLO),
        delimited(PREFIX),
    ],
)
def test_executables_are_recognised_by_their_first_bytes(data: bytes) -> None:
    assert begins_executable(data)


@pytest.mark.parametrize(
    "data", [MODULE, HLO, encoded(1, HLO), encoded(1, HLO) + OPTIONS, b"pjrt_ifrt", b""]
)
def test_other_messages_are_no_executables(data: bytes) -> None:
    assert not begins_executable(data)


@given(st.binary(max_size=200), st.sampled_from([b"", b"\0\0\0\0", delimited(PREFIX)]))
def test_any_bytes_end_in_hlo_or_none(data: bytes, before: bytes) -> None:
    found = hlo_of_executable(before + data)
    assert found is None or found.platform in ("cpu", "gpu", "tpu")
