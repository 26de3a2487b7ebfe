"""Every form, whole; the same values in all of them."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, datetime, timedelta
from math import inf, nan
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hlodb.errors import UsageError
from hlodb.queries.query import Column
from hlodb.queries.render.forms import BINARY_FORMATS, FORMATS, writer
from hlodb.queries.render.narrow import folded, narrow
from hlodb.queries.render.table import LEFT_UNITS, human
from hlodb.queries.result import Result, plain_column
from hlodb.text import visible

BIG = 2**53 + 1
HOSTILE = "a|b`c\n\x1b[31m\u202egnp.*_x_<script>"
COLUMNS = (
    Column("name", "VARCHAR", "name", "neutral", "A name."),
    Column("live_bytes", "BIGINT", "bytes", "lower_is_better", "Bytes."),
    Column("share_ratio", "DOUBLE", "ratio", "neutral", "A share."),
    Column("is_root", "BOOLEAN", "flag", "neutral", "A flag."),
    Column("seen", "TIMESTAMP", "time", "neutral", "A time."),
)
RESULT = Result(
    COLUMNS,
    [
        ("fusion.1", 1536, 0.25, True, datetime(2026, 11, 20, 8, 30)),
        (HOSTILE, BIG, None, False, None),
        (None, -1, -0.5, None, None),
    ],
)


def written(form: str, result: Result = RESULT) -> bytes:
    stream = io.BytesIO()
    writer(form)(result, stream)
    return stream.getvalue()


def test_csv() -> None:
    text = written("csv").decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["name", "live_bytes", "share_ratio", "is_root", "seen"],
        ["fusion.1", "1536", "0.25", "true", "2026-11-20T08:30:00"],
        [HOSTILE, str(BIG), "", "false", ""],
        ["", "-1", "-0.5", "", ""],
    ]


def objects() -> list[dict[str, Any]]:
    return [
        {
            "name": "fusion.1",
            "live_bytes": 1536,
            "share_ratio": 0.25,
            "is_root": True,
            "seen": "2026-11-20T08:30:00",
        },
        {
            "name": HOSTILE,
            "live_bytes": BIG,
            "share_ratio": None,
            "is_root": False,
            "seen": None,
        },
        {
            "name": None,
            "live_bytes": -1,
            "share_ratio": -0.5,
            "is_root": None,
            "seen": None,
        },
    ]


def test_json() -> None:
    assert json.loads(written("json")) == objects()


def test_jsonl() -> None:
    lines = written("jsonl").decode().split("\n")
    assert lines.pop() == ""
    assert [json.loads(line) for line in lines] == objects()


def test_json_of_what_it_has_no_words_for() -> None:
    column = Column("a", "DOUBLE", "ratio", "neutral", "A number.")
    rows = [(inf,), (nan,), ([1.5, {"b": -inf}],), ({date(2026, 11, 20): 1},)]
    assert written("jsonl", Result((column,), rows)).decode() == (
        '{"a": null}\n{"a": null}\n{"a": [1.5, {"b": null}]}\n'
        '{"a": {"2026-11-20": 1}}\n'
    )


@pytest.mark.parametrize("form", ["json", "jsonl"])
@given(st.text())
@example(HOSTILE)
def test_json_shows_what_does_not_print(form: str, text: str) -> None:
    """All forms for a terminal hide the same; who parses JSON gets it back."""
    column = Column("a", "VARCHAR", "name", "neutral", "A name.")
    lines = written(form, Result((column,), [(text,), ([text],)])).decode().split("\n")
    assert [visible(line) for line in lines] == lines
    first, second = (json.loads(line.strip(" ,[]")) for line in lines[:2])
    assert (first, second) == ({"a": text}, {"a": [text]})


def test_markdown() -> None:
    assert written("markdown").decode() == (
        "| name | live_bytes | share_ratio | is_root | seen |\n"
        "| --- | ---: | ---: | --- | ---: |\n"
        "| fusion.1 | 1536 | 0.25 | true | 2026-11-20T08:30:00 |\n"
        "| a\\|b\\`c\\n\\x1b\\[31m\\u202egnp.\\*\\_x\\_\\<script>"
        f" | {BIG} |  | false |  |\n"
        "|  | -1 | -0.5 |  |  |\n"
    )


def test_table() -> None:
    lines = written("table").decode().splitlines()
    assert [line.split() for line in lines[2:]] == [
        ["fusion.1", "1.50", "KiB", "25.0", "%", "yes", "2026-11-20T08:30:00"],
        [
            "a|b`c\\n\\x1b[31m\\u202egnp.*_x_<script>",
            *("8.00", "PiB", "-", "no", "-"),
        ],
        ["-", "-1", "B", "-50.0", "%", "-", "-"],
    ]


# Rich takes blanks off the end of what it aligns right, but only numbers are.
CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(str.rstrip)
TABLES = st.integers(1, 4).flatmap(
    lambda count: st.tuples(
        st.lists(
            st.tuples(CELLS.map("n{}".format), st.sampled_from(["name", "id"])),
            min_size=count,
            max_size=count,
        ),
        st.lists(st.tuples(*[CELLS] * count), max_size=4),
    )
)


@given(table=TABLES)
def test_a_table_that_fits_is_as_rich_draws_it(
    table: tuple[list[tuple[str, str]], list[tuple[str, ...]]],
) -> None:
    named, rows = table
    columns = tuple(Column(n, "VARCHAR", unit, "neutral", "") for n, unit in named)
    assert written("table", Result(columns, list(rows))).decode() == "".join(
        f"{line}\n" for line in drawn_by_rich(columns, rows)
    ) + ("" if rows else "(no rows)\n")


def drawn_by_rich(
    columns: tuple[Column, ...], rows: list[tuple[str, ...]]
) -> list[str]:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        justify = "left" if column.unit in LEFT_UNITS else "right"
        table.add_column(Text(visible(column.name)), justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(visible(text)) for text in row))
    console = Console(width=1000, highlight=False, no_color=True)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def test_a_table_too_wide_for_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shared values stand above it; texts and headers are folded, numbers never."""
    monkeypatch.setenv("COLUMNS", "30")
    columns = (*COLUMNS[:2], plain_column("what", "VARCHAR"))
    rows = [("a" * 20, 1536, "same"), ("b", 2048, "same")]
    stream = Terminal()
    writer("table")(Result(columns, rows), stream)
    assert stream.getvalue().decode().splitlines() == [
        "what: same",
        "                         live_",
        "name                     bytes",
        "──────────────────────────────",
        "aaaaaaaaaaaaaaaaaaaa  1.50 KiB",
        "b                     2.00 KiB",
    ]


def test_a_table_that_no_folding_fits_becomes_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    columns = (
        plain_column("program", "VARCHAR"),
        *(plain_column(f"{word}_bytes", "BIGINT") for word in ("live", "held")),
        plain_column("what", "VARCHAR"),
    )
    rows = [
        ("jit_train_step", 1536, 16, "a text of more than a line"),
        (None, 1, 2, "b"),
    ]
    stream = Terminal()
    writer("table")(Result(columns, rows, ("program", "live_bytes", "what")), stream)
    assert stream.getvalue().decode().splitlines() == [
        "── row 1 of 2 ────────────────",
        "program     jit_train_step",
        "live_bytes  1.50 KiB",
        "what        a text of more",
        "            than a line",
        "── row 2 of 2 ────────────────",
        "program     -",
        "live_bytes  1 B",
        "what        b",
        "+1 column, shown with --wide",
    ]


@pytest.mark.parametrize("form", BINARY_FORMATS)
def test_binary_forms_hold_equal_values(form: str) -> None:
    stream = io.BytesIO(written(form))
    table = pq.read_table(stream) if form == "parquet" else pa.ipc.open_stream(stream)
    table = table if form == "parquet" else table.read_all()
    assert table.to_pylist() == RESULT.dicts()
    field = table.schema.field("live_bytes")
    assert field.type == pa.int64()
    assert field.metadata[b"unit"] == b"bytes"
    assert field.metadata[b"polarity"] == b"lower_is_better"


@pytest.mark.parametrize("form", FORMATS)
def test_no_rows(form: str) -> None:
    assert bool(written(form, Result(COLUMNS, []))) == (form != "jsonl")


def test_hugeint_is_exact_in_arrow() -> None:
    column = Column("sum_bytes", "HUGEINT", "bytes", "neutral", "")
    table = Result((column,), [(2**70,)]).arrow()
    assert [int(value) for value in table.column(0).to_pylist()] == [2**70]


@pytest.mark.parametrize(
    ("form", "type_name", "value", "named"),
    [
        ("arrow", "HUGEINT", 2**127 - 1, "Arrow"),
        ("parquet", "HUGEINT", 2**127 - 1, "Arrow"),
        ("parquet", "INTERVAL", timedelta(days=1), "Parquet"),
    ],
)
def test_what_binary_forms_cannot_hold(
    form: str, type_name: str, value: object, named: str
) -> None:
    column = Column("a", type_name, "text", "neutral", "")
    with pytest.raises(UsageError) as refused:
        written(form, Result((column,), [(value,)]))
    assert str(refused.value) == (
        f"column a ({type_name}) does not fit into {named};"
        " cast it, for instance to VARCHAR"
    )


def test_human_numbers_by_unit() -> None:
    def shown(unit: str, value: object) -> str:
        return human(value, Column("x", "DOUBLE", unit, "neutral", ""))

    assert [
        shown("count", 12345),
        shown("id", 12345),
        shown("score", 1.5),
        shown("seconds", 2.0),
        shown("byte_steps", 2048),
        shown("bytes_per_second", 10.0),
    ] == ["12,345", "12345", "1.500", "2.00 s", "2.00 KiB·steps", "10 B/s"]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("host +2.11 MiB (+7.5 %): dot", 14, ["host", "+2.11 MiB", "(+7.5 %): dot"]),
        ("3 gone (-1,002.95 KiB)", 18, ["3 gone", "(-1,002.95 KiB)"]),
        ("src/model/zoo.py", 12, ["src/model/", "zoo.py"]),
        ("f32[16,32,32,32]", 12, ["f32[16,32,", "32,32]"]),
    ],
)
def test_folded_text_keeps_numbers_with_their_units(
    text: str, width: int, lines: list[str]
) -> None:
    assert folded(text, width) == lines


def test_headers_of_two_words_fold_between_them() -> None:
    columns = tuple(Column(n, "BIGINT", "bytes", "", "") for n in ("matched by", "Δ %"))
    assert narrow(columns, [["1234567", "1"], ["1", "2"]], 10) == [
        "matched  Δ",
        "     by  %",
        "──────────",
        "1234567  1",
        "      1  2",
    ]


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_sentences_keep_their_words_at_any_width(width: int) -> None:
    advice = (
        "Recompute in the backward pass what the forward pass saves: jax.checkpoint."
    )
    header = (
        ("reserved", "bytes"),
        ("what", "text"),
        ("source line", "text"),
        ("what to do", "text"),
        ("cost", "text"),
    )
    columns = tuple(Column(name, "VARCHAR", unit, "", "") for name, unit in header)
    row = ["557.38 MiB", "all saved activations", "train.py:35", advice, "flops"]
    other = ["1.00 MiB", "logits", "loss.py:4", "Compute them in chunks.", "none"]
    lines = narrow(columns, [row, other], width)
    assert max(map(len, lines)) <= width
    assert {*advice.split()} <= {*" ".join(lines).split()}
    is_table = "what to do" in lines[0]
    assert is_table is (width >= 80)


def test_a_row_that_counts_others_is_no_record() -> None:
    """As a table of a report that was cut has it, in whichever column."""
    names = ("alpha", "beta", "gamma", "delta")
    columns = tuple(Column(name, "VARCHAR", "text", "neutral", "") for name in names)
    cells = [["x" * 40, "y" * 40, "z" * 40, "w" * 40], ["", "[1 other]", "", ""]]
    lines = narrow(columns, cells, 30)
    assert lines[0].startswith("── row 1 of 1 ─")
    assert lines[-1] == "[1 other]"
    assert not any("row 2" in line for line in lines)
