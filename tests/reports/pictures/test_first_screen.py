"""What a page of `explain` shows first adds up to the figures of the queries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from hlodb.reports.document.first_screen import FirstScreen, first_screen
from hlodb.reports.pictures.draw_first import draw_first
from hlodb.reports.pictures.draw_peak import NARROW, draw_peak
from hlodb.reports.read.drawn.overview_drawings import Drawings, read_drawings
from hlodb.reports.read.drawn.peak_parts import Held, Part, peak_parts
from hlodb.reports.read.overview import (
    Overview,
    described_spaces,
    read_overview,
    rows_of,
)
from hlodb.reports.render.first_screen import first_lines
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, Made

DUMPS = [DATA / "moved_lines" / "before", DATA / "remedies" / "decode.tar.xz"]

Explained = tuple[Overview, Drawings]


@pytest.fixture(scope="module", params=DUMPS, ids=lambda path: path.name)
def explained(request: pytest.FixtureRequest, made: Made) -> Explained:
    dump: Path = request.param

    def make(path: Path) -> None:
        ingest([str(dump)], path, jobs=1, prepare=renew_macros)

    with connect(made(f"first-{dump.name}", make), read_only=True) as connection:
        overview = read_overview(connection, None, None, 0, top=5)
        return overview, read_drawings(connection, overview, 3)


def test_parts_add_up_to_roles_and_peak(explained: Explained) -> None:
    overview, drawings = explained
    described = described_spaces(overview, 3)
    assert drawings.peaks.keys() == described.keys()
    for title, space in described.items():
        parts = drawings.peaks[title]
        assert sum(part.bytes for part in parts) == space["live_peak_bytes"]
        rows = rows_of(overview, "peak_by_role", space)
        roles = {row["role"]: row["owned_bytes"] for row in rows}
        assert {part.role: part.bytes for part in parts} == roles
        for part in parts:
            assert sums_up(part)


def sums_up(part: Part) -> bool:
    own = sum(child.bytes for child in part.children)
    return not part.children or (own == part.bytes and all(map(sums_up, part.children)))


def test_lines_have_what_the_query_gives_them(explained: Explained) -> None:
    overview, drawings = explained
    title, space = next(iter(described_spaces(overview, 1).items()))
    drawn: dict[str, int] = {}
    for role in drawings.peaks[title]:
        for line in role.children:
            drawn[line.name] = drawn.get(line.name, 0) + line.bytes
    # An argument is drawn by its name, whatever line reads it.
    for row in rows_of(overview, "peak_by_source_line", space):
        if row["source_file"]:
            name = f"{row['source_file']}:{row['source_line']}"
            assert drawn.get(name, 0) <= row["owned_bytes"]


def test_the_first_screen_says_what_rows_say(explained: Explained) -> None:
    overview, drawings = explained
    first = first_screen(overview)
    assert isinstance(first, FirstScreen)
    role = rows_of(overview, "peak_by_role", first.space)[0]["role"].replace("_", " ")
    assert first.sentences[0].startswith(f"{role.capitalize()}: ")
    assert first.note.startswith("Included: ")
    assert bool(first.remedies) is not bool(first.nothing)
    pictures = draw_first(overview, first, drawings.peaks[first.title])
    assert [picture.id for picture in pictures] == [
        "parts-1",
        "parts-1-narrow",
        "schedule-1",
    ]


def test_a_remedy_says_by_what_memory_changes(explained: Explained) -> None:
    overview, _ = explained
    [(_, space)] = described_spaces(overview, 1).items()
    row = {
        **{name: space[name] for name in ("program", "path", "color")},
        "subject": "logits",
        "saved_reserved_bytes": 3 << 20,
        "saved_bytes": 0,
        "most_saved_reserved_bytes": 4 << 20,
        "most_saved_bytes": None,
        "source_file": "lm.py",
        "source_line": 57,
        "advice": "Return the loss only.",
        "cost": "none",
        "is_last_resort": False,
        "standing": "measured",
    }
    answers = {**overview.answers, "remedies": [row]}
    first = first_screen(replace(overview, answers=answers))
    assert first is not None
    [remedy] = first.remedies
    assert remedy.figures == (("-3.00 MiB to -4.00 MiB", "reserved"), ("0 B", "live"))
    assert (remedy.where, remedy.standing) == ("lm.py:57", "measured")
    page = "".join(first_lines(first, []))
    assert "<b>-3.00 MiB to -4.00 MiB</b> reserved, <b>0 B</b> live (measured)" in page


def test_arguments_of_one_kind_are_one_part() -> None:
    held = [
        Held(
            "weights",
            None,
            None,
            None,
            None,
            "parameter",
            f"p[{n}]['w']",
            "f32[8]{0}",
            32,
            1,
        )
        for n in range(3)
    ]
    [role] = peak_parts(held)
    [line] = role.children
    [array] = line.children
    assert (line.label, array.label, array.bytes) == (
        "arguments",
        "p[*]['w'] \N{MULTIPLICATION SIGN} 3",
        96,
    )


NO_LAYER = (None, None)


def argument(name: str) -> Held:
    shape = "f32[8]{0}"
    return Held("weights", None, None, None, None, "parameter", name, shape, 32, 1)


def parts_of(sizes: list[int]) -> tuple[Part, ...]:
    held = [
        Held(
            "activations", *NO_LAYER, "model.py", n, "temp", None, f"f32[{n}]", size, 1
        )
        for n, size in enumerate(sizes, 1)
    ]
    return peak_parts(held)


@pytest.mark.parametrize("width", [720, NARROW])
def test_parts_fill_the_picture_and_small_ones_are_one(width: int) -> None:
    picture = draw_peak(parts_of([1000, *[1] * 500]), "jit_f: HBM", 1, width)
    rectangles = list(rectangles_of(picture.drawing))
    by_column: dict[float, float] = {}
    for x, height in rectangles:
        by_column[x] = by_column.get(x, 0) + height + 1
    assert len(by_column) == (3 if width == 720 else 2)
    assert by_column[0] == pytest.approx(picture.height, abs=1)
    assert "500 others" in picture.drawing
    assert len(rectangles) < 10


def layered(layer: int | None, name: str | None, line: int, size: int) -> Held:
    return Held("weights", name, layer, "m.py", line, "temp", None, "f32[8]", size, 1)


def test_layers_are_between_role_and_line() -> None:
    """Those of one name that hold similarly much share a part."""
    held = [
        *(layered(n, "block", line, 16) for n in (0, 1, 2) for line in (7, 8)),
        *(layered(n, "conv", 9, 10 + 90 * n) for n in (0, 1)),
        layered(None, None, 9, 5),
    ]
    parts = peak_parts(held)
    [role] = parts
    assert [(part.label, part.bytes) for part in role.children] == [
        ("conv_1", 100),
        ("block_0 … block_2", 96),
        ("conv_0", 10),
        ("outside of layers", 5),
    ]
    assert [(line.label, line.bytes) for line in role.children[1].children] == [
        ("m.py:7", 48),
        ("m.py:8", 48),
    ]
    assert sums_up(role)
    picture = draw_peak(parts, "jit_f: HBM", 1)
    assert picture.title == "What holds the peak: role, layer, source line, array"
    assert picture.figures is not None
    assert picture.figures.header[:4] == ("role", "layer", "source line", "array")
    narrow = draw_peak(parts, "jit_f: HBM", 1, NARROW)
    assert "conv_1" not in narrow.drawing
    assert "m.py:9" in narrow.drawing


def test_layers_that_hold_little_are_left_out() -> None:
    held = [layered(n, "block", 7, 1) for n in (0, 1)]
    [role] = peak_parts([*held, layered(None, None, 9, 98)])
    assert [part.label for part in role.children] == ["m.py:9", "m.py:7"]


def test_a_hostile_name_stays_text() -> None:
    held = [
        Held(
            "weights", None, None, None, None, "parameter", "<b>&\x1b[", "f32[8]", 32, 1
        )
    ]
    picture = draw_peak(peak_parts(held), "<i>", 1)
    assert "<b>" not in picture.drawing
    assert "\x1b" not in picture.drawing


def rectangles_of(drawing: str) -> Iterator[tuple[float, float]]:
    for found in re.finditer(r"<rect ([^>]*)>", drawing):
        x = re.search(r' ?\bx="([\d.]+)"', found[1])
        height = re.search(r'height="([\d.]+)"', found[1])
        assert x is not None
        assert height is not None
        yield float(x[1]), float(height[1])
