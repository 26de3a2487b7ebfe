"""What a GPU's allocator lacked, and which figure of its message comes first."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hlodb.cli import cli

GIB = 1 << 30

MESSAGE = """\
2026-11-27 03:12:44.118203: W external/xla/xla/tsl/framework/bfc_allocator.cc:501] \
Allocator (GPU_0_bfc) ran out of memory trying to allocate {request}.00GiB (rounded to \
{request_bytes})requested by op
2026-11-27 03:12:44.119003: I external/xla/xla/tsl/framework/bfc_allocator.cc:1149] \
Stats:
Limit:                     {limit}
InUse:                     {used}
MaxInUse:                  {used}
NumAllocs:                        2214
MaxAllocSize:              16030629888
Reserved:                            0
PeakReserved:                        0
LargestFreeBlock:                    0

E0000 03:12:44.120003 4711 pjrt_stream_executor_client.cc:3085] Execution of replica 0 \
failed: RESOURCE_EXHAUSTED: Out of memory while trying to allocate {request_bytes} \
bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    2.00GiB
              constant allocation:         0B
        maybe_live_out allocation:    1.00GiB
     preallocated temp allocation:   {request}.00GiB
                 total allocation:   {total}.00GiB
"""


def explained(tmp_path: Path, limit: int, used: int, request: int = 15) -> str:
    """Return what `hlodb explain` says, in one line; sizes are in GiB."""
    log = tmp_path / "train.log"
    text = MESSAGE.format(
        request=request,
        request_bytes=request * GIB,
        limit=limit * GIB,
        used=used * GIB,
        total=request + 3,
    )
    log.write_text(text)
    said = CliRunner().invoke(cli, ["explain", str(log)]).output
    return " ".join(said.split())


def test_what_did_not_fit_comes_before_the_total(tmp_path: Path) -> None:
    said = explained(tmp_path, limit=60, used=48)
    assert said.startswith(
        "train.log: a program ran out of memory: a request for 15.00 GiB failed;"
        " 12.00 GiB of 60.00 GiB were free Out of memory"
    )
    assert "The program needs 18.00 GiB in all; included in this: " in said
    assert (
        "The program alone fits: 18.00 GiB of 60.00 GiB. Of the 48.00 GiB in use at"
        " most 3.00 GiB are its own, as the request is not among them: at least"
        " 45.00 GiB are held by something else. Look for arrays that are kept alive"
    ) in said


@pytest.mark.parametrize(
    ("limit", "used", "request_gib", "first"),
    [
        (17, 3, 15, "it needs 18.00 GiB; the limit is 17.00 GiB"),
        (19, 6, 15, "a request for 15.00 GiB failed; 13.00 GiB of 19.00 GiB were free"),
        (40, 20, 15, "a request for 15.00 GiB failed, though 20.00 GiB of 40.00 GiB"),
        (10, 2, 15, "it needs 18.00 GiB; the limit is 10.00 GiB"),
    ],
)
def test_the_total_leads_where_it_exceeds_the_limit(
    tmp_path: Path, limit: int, used: int, request_gib: int, first: str
) -> None:
    said = explained(tmp_path, limit, used, request_gib)
    assert said.startswith(f"train.log: a program ran out of memory: {first}")
    assert ("something else" in said) == (limit == 40)
