"""The sections of `hlodb explain` about reports of logs that memory ran out."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.document.blocks import Block, Paragraph, Section, table
from hlodb.reports.read.overview import (
    Overview,
    Row,
    buffers_of,
    chunks_of,
    failures,
    is_of_another,
)
from hlodb.text import counted, plain_bytes

UNKNOWN = "unknown"
"""The form of a line that is not understood."""

_SAME_REPORT = (
    *("form", "space_name", "program", "operation", "needed_bytes", "capacity_bytes"),
    *("over_bytes", "requested_bytes"),
)
"""What reports of several ranks, or of several attempts, have in common."""

_MOST_RANKS = 8


def log_headline(overview: Overview) -> str | None:
    """Return the most important sentence about the logs; None where none is needed."""
    reports = overview.answers["oom_summary"]
    alike = _alike(failures(overview))
    if alike:
        first = _sentence(alike[0][0], _refused(overview))
        if not alike[1:]:
            return first
        return (
            f"{counted(len(alike), 'failure')} for want of memory, the first: {first}"
        )
    if understood := [row for row in reports if row["form"] != UNKNOWN]:
        return _sentence(understood[0])
    if overview.answers["headroom"]:
        return None
    if printed := overview.answers["printed_memory"]:
        size = plain_bytes(printed[0]["needed_bytes"])
        return f"by memory_analysis() a program needs {size}"
    if reports:
        where = f"{reports[0]['path']}:{reports[0]['line']}"
        return (
            f"{where} tells of a shortage of memory in words that hlodb does not"
            f" understand: {reports[0]['message']}"
        )
    return None


def _refused(overview: Overview) -> str | None:
    """Return the program of a dump that the compiler refused, if it is one alone."""
    rows = overview.answers["headroom"]
    names = {row["program"] for row in rows if row["is_refused"]}
    return names.pop() if len(names) == 1 else None


def log_sections(overview: Overview, most: int, top: int) -> list[Section]:
    """Return the reports; ranks that say the same have one section."""
    reports = overview.answers["oom_summary"]
    warnings = [
        row for row in reports if not row["has_failed"] and row["form"] != UNKNOWN
    ]
    alike = [*_alike(failures(overview)), *_alike(warnings)]
    sections = [_section(rows, overview, top) for rows in alike[:most]]
    if len(alike) > most:
        left = counted(len(alike) - most, "other report")
        text = f"Not listed: {left}; `hlodb query oom_summary` lists all."
        sections[-1].blocks.append(Paragraph(text))
    sections += _not_understood([row for row in reports if row["form"] == UNKNOWN], top)
    return [*sections, *_printed(overview.answers["printed_memory"], top)]


def _alike(reports: Sequence[Row]) -> list[list[Row]]:
    alike: dict[tuple[object, ...], list[Row]] = {}
    for row in reports:
        alike.setdefault(tuple(row[name] for name in _SAME_REPORT), []).append(row)
    return list(alike.values())


# --- Sentences -----------------------------------------------------------------------


def _space(row: Row) -> str | None:
    """Return the memory space of a report; messages write HBM in small letters, too."""
    space: str | None = row["space_name"]
    return "HBM" if space == "hbm" else space


def _sentence(row: Row, program: str | None = None) -> str:
    """Return a report as a sentence; `program` is meant where it names none."""
    who = row["program"] or program or "a program"
    special = _SENTENCES.get(row["form"])
    if special is not None:
        return special(row, who)
    space = _space(row)
    failed = f"{who} ran out of {_SPACES.get(space, f'memory in {space}')}"
    what = f" ({row['operation']})" if row["operation"] else ""
    if row["needed_bytes"] is None:
        if row["over_bytes"] is not None:
            return f"{failed}{what}: it needs {plain_bytes(row['over_bytes'])} too much"
        return f"{failed}{what}; hlodb reads no size in the message"
    if row["form"] == "allocation":
        size = plain_bytes(row["requested_bytes"])
        return f"{failed}: a request for {size}{what} failed{_why(row)}"
    needed = plain_bytes(row["needed_bytes"])
    if row["capacity_bytes"] is None:
        return f"{failed}: it needs {needed}"
    of = f"it needs {needed} of {plain_bytes(row['capacity_bytes'])}"
    if row["over_bytes"] <= 0:
        # Both are printed to three digits.
        return f"{failed}: {of} as rounded"
    return f"{failed}: {of}, {plain_bytes(row['over_bytes'])} too much"


_SPACES = {
    None: "memory",
    "host": "host memory",
    "shared": "the shared memory of a GPU kernel",
}
"""How memory spaces are called whose name alone is no memory's."""


def _why(row: Row) -> str:
    """Return why a request failed, as far as the state of memory shows it."""
    free = plain_bytes(row["free_bytes"])
    if row["cause"] == "too_large":
        if row["limit_bytes"] is not None:
            return f"; the allocator may use {plain_bytes(row['limit_bytes'])} in all"
        return f"; the device has {plain_bytes(row['device_bytes'])} in all"
    if row["cause"] == "fragmentation":
        piece = plain_bytes(row["largest_free_bytes"])
        return f" by fragmentation; {free} are free, the largest piece is {piece}"
    if row["cause"] == "pool":
        device = plain_bytes(row["device_free_bytes"])
        return (
            f"; the allocator has {free} left of its pool, though {device} of the"
            " device are free"
        )
    if row["cause"] == "shortage":
        return f"; {free} were free"
    return ""


def _left_over(row: Row, who: str) -> str:
    return (
        f"XLA recomputed what it could of {who}:"
        f" {plain_bytes(row['needed_bytes'])} are left, of"
        f" {plain_bytes(row['capacity_bytes'])} that it wanted"
    )


def _arguments(row: Row, who: str) -> str:
    return (
        f"arguments and results of {who} take {plain_bytes(row['parameter_bytes'])},"
        f" more than the limit of {plain_bytes(row['capacity_bytes'])} that XLA plans"
        " with: it cannot recompute them"
    )


def _usage(row: Row, who: str) -> str:
    of = f"{plain_bytes(row['needed_bytes'])} of {plain_bytes(row['capacity_bytes'])}"
    space = f" in {_space(row)}" if row["space_name"] else ""
    if row["has_failed"]:
        over = plain_bytes(row["over_bytes"])
        return f"{who} ran out of memory{space}: it needs {of}, {over} too much"
    return f"{who} needs {of}{space}"


def _mismatch(row: Row, who: str) -> str:
    return (
        f"{who} was given a buffer of another size than the"
        f" {plain_bytes(row['requested_bytes'])} of its parameter: another shape or"
        " layout, no lack of memory"
    )


def _offload(row: Row, who: str) -> str:
    return (
        f"a result of {who} is in host memory, where its layout wants device memory: no"
        " lack of memory"
    )


def _optional(row: Row, who: str) -> str:
    return (
        f"an allocator had no {plain_bytes(row['requested_bytes'])} for {who}, whose"
        " request says that it goes on without them: no failure by itself"
    )


def _killed(row: Row, who: str) -> str:
    held = row["needed_bytes"]
    size = f", which held {plain_bytes(held)}" if held is not None else ""
    killed = row["operation"] or "a process"
    return f"the system ran out of host memory and killed {killed}{size}"


_SENTENCES = {
    "rematerialization": _left_over,
    "argument_limit": _arguments,
    "program_usage": _usage,
    "allocation_warning": _optional,
    "input_mismatch": _mismatch,
    "host_offload": _offload,
    "killed": _killed,
}

# --- Sections ------------------------------------------------------------------------


def _ranks(rows: Sequence[Row]) -> str:
    """Return which ranks say so, and how many more reports do."""
    ranks = sorted({row["rank"] for row in rows if row["rank"] is not None})
    if not ranks:
        return f", and {counted(len(rows) - 1, 'more report')}" if rows[1:] else ""
    shown = ", ".join(map(str, ranks[:_MOST_RANKS]))
    left = len(ranks) - _MOST_RANKS
    more = f" and {left} more" if left > 0 else ""
    return f" (rank{'s' if ranks[1:] else ''} {shown}{more})"


def _section(rows: Sequence[Row], overview: Overview, top: int) -> Section:
    row = rows[0]
    where = f"{row['path']}:{row['line']}{_ranks(rows)}"
    code = f" ({row['error_code']})" if row["error_code"] else ""
    blocks: list[Block] = [Paragraph(f"{where}: {_sentence(row)}{code}.")]
    blocks += [*_parts(row), *_state(row)]
    buffers = buffers_of(overview, row)
    if buffers:
        blocks.append(_buffers(buffers, top))
    elif row["form"] in ("program_memory", "buffer_assignment"):
        blocks.append(Paragraph("The report lists no buffers."))
    if row["padding_bytes"]:
        blocks.append(
            Paragraph(
                f"{plain_bytes(row['padding_bytes'])} of the listed"
                f" {plain_bytes(row['listed_bytes'])} are padding: choose dimensions"
                " that fill the tile of the layout."
            )
        )
    blocks += _chunks(chunks_of(overview, row), top)
    if row["program_by"] == "temporaries":
        text = (
            f"Its temporaries have exactly the size of the request: {row['program']} is"
            " likely the program."
        )
        blocks.append(Paragraph(text))
    if row["program_run"] is None and (text := _without_dump(row, overview)):
        blocks.append(Paragraph(text))
    title = "Out of memory" if row["has_failed"] else "Reported by the log"
    return Section(title, blocks)


def _parts(row: Row) -> list[Block]:
    parts = [
        f"{name} {plain_bytes(row[column])}"
        for column, name in (
            ("requested_bytes", "the request that failed"),
            ("parameter_bytes", "arguments"),
            ("live_out_bytes", "results"),
            ("temp_bytes", "temporaries"),
            ("temp_fragmentation_bytes", "fragmentation of these"),
        )
        if row[column] and row[column] != row["needed_bytes"]
    ]
    if not parts or row["form"] in ("allocation", "input_mismatch", "argument_limit"):
        return []
    return [Paragraph(f"Of this: {'; '.join(parts)}.")]


def _state(row: Row) -> list[Block]:
    """Return the state of memory when a request failed."""
    parts = [
        f"{plain_bytes(row[column])} {name}"
        for column, name in (
            ("in_use_bytes", "in use"),
            ("limit_bytes", "is the limit"),
            ("free_bytes", "free"),
            ("largest_free_bytes", "in the largest free piece"),
            ("device_free_bytes", "free on the device"),
            ("device_bytes", "is the memory of the device"),
        )
        if row[column] is not None
        and not (column == "device_free_bytes" and row[column] == row["free_bytes"])
    ]
    if not parts:
        return []
    who = f" of allocator {row['allocator']}" if row["allocator"] else ""
    return [Paragraph(f"State of memory{who}: {'; '.join(parts)}.")]


def _buffers(buffers: Sequence[Row], top: int) -> Block:
    rows = [
        (
            plain_bytes(row["size_bytes"]),
            plain_bytes(row["data_bytes"]),
            row["kind"] or "",
            row["shape"] or "",
            _operation(row),
            _line(row),
        )
        for row in buffers
    ]
    header = ("size", "data", "kind", "shape", "operation", "source line")
    return table(header, rows, top, numeric=(0, 1))


def _operation(row: Row) -> str:
    """Return what a buffer is for: its framework path, instruction or label."""
    label, instruction = row["label"], row["instruction"]
    is_instruction = instruction and label and f"{instruction} = " in label
    if row["op_name"] and (is_instruction or not label):
        return str(row["op_name"])
    if label is None or is_instruction:
        return str(instruction or row["op_name"] or "")
    more = row["op_name"]
    if more is None and instruction is not None and instruction not in label:
        more = instruction
    return f"{label} ({more})" if more else str(label)


def _line(row: Row) -> str:
    if row["source_file"] is None:
        return ""
    number = "" if row["source_line"] is None else f":{row['source_line']}"
    return f"{row['source_file']}{number}"


def _chunks(chunks: Sequence[Row], top: int) -> list[Block]:
    held = [row for row in chunks if not row["is_free"]]
    if not held:
        return []
    rows = [
        (
            plain_bytes(row["chunk_bytes"]),
            f"{row['chunk_count']:,}",
            row["program"] or "",
            row["kind"] or "",
            "" if row["allocation_id"] is None else str(row["allocation_id"]),
            row["largest_value"] or "",
        )
        for row in held
    ]
    header = ("bytes", "chunks", "program", "kind", "allocation", "largest value")
    title = "What the allocator held, chunks of equal size together:"
    return [Paragraph(title), table(header, rows, top, numeric=(0, 1, 4))]


def _without_dump(row: Row, overview: Overview) -> str:
    if not row["has_failed"] or row["form"] == "killed":
        return ""
    if row["allocator"] == "PyTorch":
        return _OF_PYTORCH
    if not overview.has_programs:
        return _NO_DUMP
    if row["program"] is not None:
        return f"No dumped program is called {row['program']}: the dump is of others."
    if is_of_another(overview, row):
        return "No dumped program has these buffers: the dump is of another program."
    if refused := _refused(overview):
        return f"The message names no program; the compiler refused {refused}."
    return "Nothing in the message says which program of the dump it was."


_OF_PYTORCH = (
    "This is a message of PyTorch about its own allocator, none of XLA's: no dump of"
    " XLA tells more. torch.cuda.memory_summary() lists what PyTorch holds."
)
_NO_DUMP = (
    "Without a dump of the program there is no more to say: compile it with"
    " XLA_FLAGS=--xla_dump_to=DIR, which needs no device memory, and pass DIR, too."
)


def _not_understood(reports: Sequence[Row], top: int) -> list[Section]:
    if not reports:
        return []
    rows = [
        (
            f"{row['path']}:{row['line']}",
            f"{1 + (row['repeat_count'] or 0):,}",
            row["message"] or "",
        )
        for row in reports
    ]
    text = (
        "These lines tell of a shortage of memory in words that hlodb does not"
        " understand:"
    )
    header = ("line", "times", "as written")
    return [
        Section(
            "Not understood", [Paragraph(text), table(header, rows, top, numeric=(1,))]
        )
    ]


def _printed(printed: Sequence[Row], top: int) -> list[Section]:
    if not printed:
        return []
    sizes = (
        *("needed_bytes", "argument_bytes", "output_bytes", "alias_bytes"),
        *("temp_bytes", "code_bytes", "host_bytes"),
    )
    rows = [
        (
            f"{row['path']}:{row['line']}{_ranks([row])}",
            *(plain_bytes(row[name]) for name in sizes),
        )
        for row in printed
    ]
    header = (
        *("figures", "needs", "arguments", "results", "aliases", "temporaries"),
        *("code", "host"),
    )
    text = (
        "Figures of memory_analysis(); a program needs its arguments, results,"
        " temporaries and code, less results that share the memory of arguments"
        " (aliases):"
    )
    if any(row["form"] == "maxtext" for row in printed):
        text = f"{text[:-1]}; MaxText rounds to 0.1 GiB and leaves out the code:"
    block = table(header, rows, top, numeric=tuple(range(1, len(header))))
    return [Section("Printed figures of memory", [Paragraph(text), block])]
