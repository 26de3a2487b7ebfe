"""Parents of stack frames, as releases number them."""

import pytest

from hlodb.ingest.formats.hlo_text.header import FrameTables, parse_frame_tables
from hlodb.ingest.records import Frame

TABLES = """\
FileNames
1 "/a.py"

FunctionNames
1 "main"
2 "step"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}}
2 {{file_name_id=1 function_name_id=2 line=5 end_line=6 column=2 end_column=8}}

StackFrames
1 {{file_location_id=1 parent_frame_id={}}}
2 {{file_location_id=2 parent_frame_id={}}}
3 {{file_location_id=1 parent_frame_id={}}}
"""


@pytest.mark.parametrize(
    "printed",
    [
        (1, 2, 2),
        # As jax 0.9.0 prints them for TPUs (libtpu 0.0.34).
        (0, 1, 1),
    ],
)
def test_parents_by_their_numbers_and_one_more(printed: tuple[int, ...]) -> None:
    assert parse_frame_tables(TABLES.format(*printed)) == FrameTables(
        (
            Frame(1, None, "main", "/a.py", 3, 1),
            Frame(2, 1, "step", "/a.py", 5, 2),
            Frame(3, 1, "main", "/a.py", 3, 1),
        ),
        (),
    )
