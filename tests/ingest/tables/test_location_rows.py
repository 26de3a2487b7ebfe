"""Locations and stack frames: each list of them once, and nothing lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.arrow import Columns, arrow_schema
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.records import Frame, Instruction, Location
from hlodb.ingest.tables.location_rows import LOCATION_TABLES, add_locations

A = Location("a.py", 3, None, None, None, 1)
B = Location("b.py", 7, 8, 1, 2, None)
FRAMES = (Frame(1, None, "main", "a.py", 3, 1), Frame(2, 1, "go", "b.py", 7, 1))


class Added:
    """Tables, and the keys that were added to them."""

    def __init__(self) -> None:
        self.distinct = Distinct()
        self.tables = {name: Columns(arrow_schema(name)) for name in LOCATION_TABLES}
        self.seen: set[tuple[str, int]] = set()

    def add(
        self, locations: Sequence[Location | None], frames: tuple[Frame, ...] = ()
    ) -> int:
        instructions = [
            Instruction(f"i{number}", "add", None, location=location)
            for number, location in enumerate(locations)
        ]
        rows = self.distinct.add(instructions)
        return add_locations(self.distinct, rows, frames, self.tables, self.is_new)

    def is_new(self, column: str, key: int) -> bool:
        is_new = (column, key) not in self.seen
        self.seen.add((column, key))
        return is_new

    def rows(self, name: str) -> list[dict[str, Any]]:
        return list(self.tables[f"store.{name}"].table().to_pylist())

    def located(self, locations_id: int) -> dict[int, Location]:
        """Join the tables again: the location of each instruction that has one."""
        [keys] = [
            r for r in self.rows("location_sets") if r["locations_id"] == locations_id
        ]
        places = {
            row["location_number"]: Location(*(row[f] for f in Location._fields))
            for row in self.rows("location_lists")
            if row["list_id"] == keys["list_id"]
        }
        return {
            row["instruction_id"]: places[row["location_number"]]
            for row in self.rows("location_numbers")
            if row["numbering_id"] == keys["numbering_id"]
        }


@given(st.lists(st.lists(st.sampled_from((A, B, None)), max_size=5), max_size=4))
def test_every_location_is_found_again(modules: list[list[Location | None]]) -> None:
    added = Added()
    for locations in modules:
        assert added.located(added.add(locations)) == {
            number: place for number, place in enumerate(locations) if place
        }


def test_what_is_equal_is_added_once() -> None:
    added = Added()
    first = added.add([A, None, B, A], FRAMES)
    before = {name: len(added.rows(name[6:])) for name in LOCATION_TABLES}
    assert before == {
        "store.location_sets": 1,
        "store.location_numbers": 3,
        "store.location_lists": 2,
        "store.stack_frames": 2,
    }
    assert added.add([A, None, B, A], FRAMES) == first
    moved = added.add([A, None, A._replace(source_line=9), A], FRAMES)
    assert moved != first
    assert {name: len(added.rows(name[6:])) for name in LOCATION_TABLES} == {
        "store.location_sets": 2,
        "store.location_numbers": 3,
        "store.location_lists": 4,
        "store.stack_frames": 2,
    }


def test_frames_are_kept_with_the_frame_of_the_user() -> None:
    added = Added()
    added.add([A], FRAMES)
    [frames_id] = {row["frames_id"] for row in added.rows("stack_frames")}
    assert added.rows("stack_frames") == [
        {"frames_id": frames_id, "user_frame_id": f.stack_frame_id, **f._asdict()}
        for f in FRAMES
    ]
