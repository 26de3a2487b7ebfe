"""The sections of `hlodb explain` about reports of logs that memory ran out."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.document.advice import SMALL_BYTES
from hlodb.reports.document.blocks import Block, Paragraph, Section, table
from hlodb.reports.document.log_and_dump import (
    compared_figures,
    is_one_buffer,
    is_told_better_below,
    parts_left_out,
    refused,
    space_of,
    without_arguments,
)
from hlodb.reports.document.log_sentences import is_of_request, limit_of, sentence
from hlodb.reports.read.capacity import limit_words, space_limit
from hlodb.reports.read.failures import Failure, joined, listed_buffers
from hlodb.reports.read.overview import (
    SMALL_RATIO,
    Overview,
    Row,
    chunks_of,
    failures,
    is_found,
    is_of_another,
    misfit_of,
)
from hlodb.text import counted, few, plain_bytes, space_words

UNKNOWN = "unknown"
"""The form of a line that is not understood."""

_MOST_RANKS = 8

_MOST_PLACES = 8
"""Of a failure so many other places of logs are named."""

_LONGEST_LIST = 20
"""Compilers list so many buffers; a shorter list has all of them."""

_LONGEST_LABEL = 80

_BELOW_LIMIT = 0.9
"""A program that needs no more of the limit than this share fits."""

_PADDED_RATIO = 0.05
"""Less of the listed bytes is not worth other shapes."""

_LISTED_RATIO = 0.9
"""A list of all buffers takes at least this share of the temporaries."""

_FOUND_BY = {
    "paths": "The paths of the listed buffers begin with its name",
    "temporaries": "Its temporaries have exactly the size of the request",
    "rounded_temporaries": (
        "Its temporaries, and those of no other program of the dump, have the size in"
        " the message as rounded"
    ),
}
"""How the program of a message is found that does not name it, by program_by."""


def log_headline(overview: Overview) -> str | None:
    """Return the most important sentence about the logs; None where none is needed."""
    reports = overview.answers["oom_summary"]
    if found := joined(failures(overview)):
        first = _said(found[0], overview)
        if not found[1:]:
            return first
        return (
            f"{counted(len(found), 'failure')} for want of memory, the first: {first}"
        )
    if understood := [row for row in reports if row["form"] != UNKNOWN]:
        return sentence(understood[0])
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


def _said(failure: Failure, overview: Overview) -> str:
    """Return what a program lacked: by its dump where that says more than the log."""
    row = failure.row
    space = space_of(overview, row)
    parts = [] if space is None else parts_left_out(row, space)
    if space is not None and (is_one_buffer(row) or parts):
        limit = space_limit(space)
        over = space["reserved_bytes"] - (limit.bytes or space["reserved_bytes"])
        if over > 0:
            where = space_words(space["space_name"], space["color"])
            return (
                f"{space['program']} ran out of memory in {where}: it needs"
                f" {plain_bytes(space['reserved_bytes'])} of {limit_words(limit)},"
                f" {plain_bytes(over)} too much{_counted(row, parts)}"
            )
    return sentence(row, refused(overview), listed_buffers(overview, failure))


def _counted(row: Row, parts: Sequence[tuple[str, int]]) -> str:
    """Return what a message counts of a program that leaves out `parts`."""
    if not parts:
        return ""
    names = " and ".join(name for name, _ in parts)
    return f" (the message counts {plain_bytes(row['needed_bytes'])}, without {names})"


def log_sections(overview: Overview, most: int, top: int) -> list[Section]:
    """Return the reports; ranks that say the same have one section."""
    reports = overview.answers["oom_summary"]
    warnings = [
        row for row in reports if not row["has_failed"] and row["form"] != UNKNOWN
    ]
    found = [*joined(failures(overview)), *joined(warnings)]
    sections = [_section(failure, overview, most, top) for failure in found[:most]]
    if len(found) > most:
        left = counted(len(found) - most, "other failure")
        text = f"Not listed: {left}; `hlodb query oom_summary` lists all."
        sections[-1].blocks.append(Paragraph(text))
    sections += _not_understood([row for row in reports if row["form"] == UNKNOWN], top)
    return [*sections, *_printed(overview.answers["printed_memory"], top)]


def _ranks(rows: Sequence[Row]) -> str:
    """Return which ranks say so."""
    ranks = sorted({row["rank"] for row in rows if row["rank"] is not None})
    if not ranks:
        return ""
    shown = ", ".join(map(str, ranks[:_MOST_RANKS]))
    left = len(ranks) - _MOST_RANKS
    more = f" and {left} more" if left > 0 else ""
    return f" (rank{'s' if ranks[1:] else ''} {shown}{more})"


def _section(failure: Failure, overview: Overview, most: int, top: int) -> Section:
    row = failure.row
    where = f"{row['path']}:{row['line']}{_ranks(failure.reports)}"
    code = f" ({row['error_code']})" if row["error_code"] else ""
    buffers = listed_buffers(overview, failure)
    said = f"{where}: {sentence(row, buffers=buffers)}{code}."
    space = space_of(overview, row)
    compared = without_arguments(row) if space is None else compared_figures(row, space)
    blocks: list[Block] = [Paragraph(f"{said} {compared}" if compared else said)]
    if places := _other_places(failure.reports):
        blocks.append(Paragraph(places))
    blocks += [*_parts(row), *_state(row), *_held_by_others(row)]
    if space is not None and is_told_better_below(overview, space, most, buffers):
        text = "Its largest buffers are listed below, with the lines that the dump has."
        blocks.append(Paragraph(text))
    elif buffers:
        blocks.append(_buffers(buffers, top))
        if text := _cut_list(row, buffers):
            blocks.append(Paragraph(text))
    elif row["form"] in ("program_memory", "buffer_assignment"):
        blocks.append(Paragraph("The report lists no buffers."))
    if row["padding_bytes"]:
        blocks.append(Paragraph(_padding(row, buffers)))
    blocks += _chunks(chunks_of(overview, row), top)
    if how := _FOUND_BY.get(row["program_by"] or ""):
        text = f"{how}: {row['program']} is likely the program."
        blocks.append(Paragraph(text))
    if is_found(row):
        text = _on_other_platform(row, overview)
    else:
        text = _without_dump(row, overview)
    if text:
        blocks.append(Paragraph(text))
    title = "Out of memory" if row["has_failed"] else "Reported by the log"
    return Section(title, blocks)


def _padding(row: Row, buffers: Sequence[Row]) -> str:
    """Return how much is padding, of which buffer most, and what saves it."""
    padding = row["padding_bytes"]
    text = (
        f"{plain_bytes(padding)} of the listed {plain_bytes(row['listed_bytes'])} are"
        " padding"
    )
    least = SMALL_RATIO * (row["needed_bytes"] or 0)
    if padding < max(SMALL_BYTES, least, _PADDED_RATIO * row["listed_bytes"]):
        return f"{text}."
    most = max(buffers, key=lambda each: each["padding_bytes"] or 0, default=None)
    if most is not None and 2 * (most["padding_bytes"] or 0) > padding:
        text += f", most of it in {most['instruction'] or most['shape']}"
        if most["tile_use"]:
            text += f": its data fill {most['tile_use']}"
    return (
        f"{text}. Fold short dimensions into others, or put several rows into one, so"
        " that the data fill the tile of the layout; wider dimensions save nothing."
    )


def _other_places(reports: Sequence[Row]) -> str:
    """Return where else a failure is reported; ranks say so themselves."""
    places = [
        f"{row['path']}:{row['line']}" for row in reports[1:] if row["rank"] is None
    ]
    said = []
    if places:
        said.append(f"The same failure is reported at {few(places, _MOST_PLACES)}.")
    if repeated := sum(row["repeat_count"] or 0 for row in reports):
        said.append(f"Logs repeat it {counted(repeated, 'time')} in the same words.")
    return " ".join(said)


def _cut_list(row: Row, buffers: Sequence[Row]) -> str:
    """Return that a list of buffers lacks some, as far as the sizes show it."""
    temporaries = row["temp_bytes"]
    if row["form"] != "program_memory" or not temporaries:
        return ""
    needed = temporaries - (row["temp_fragmentation_bytes"] or 0)
    listed = sum(each["size_bytes"] or 0 for each in buffers)
    if len(buffers) >= _LONGEST_LIST or listed >= _LISTED_RATIO * needed:
        return ""
    verb = "takes" if len(buffers) == 1 else "take"
    return (
        f"The list is cut: {counted(len(buffers), 'buffer')} {verb}"
        f" {plain_bytes(listed)} of the {plain_bytes(needed)} of temporaries."
    )


def _parts(row: Row) -> list[Block]:
    parts = [
        f"{name} {plain_bytes(row[column])}{_shared(row, column)}"
        for column, name in (
            ("requested_bytes", "the request that failed"),
            ("parameter_bytes", "arguments"),
            ("live_out_bytes", "results"),
            ("temp_bytes", "temporaries"),
            (
                "temp_fragmentation_bytes",
                "fragmentation of the temporaries",
            ),
        )
        if row[column] and row[column] != row["needed_bytes"]
    ]
    if not parts or row["form"] in ("allocation", "input_mismatch", "argument_limit"):
        return []
    included = f"ncluded in this: {'; '.join(parts)}."
    if is_of_request(row):
        needed = plain_bytes(row["needed_bytes"])
        return [Paragraph(f"The program needs {needed} in all; i{included}")]
    return [Paragraph(f"I{included}")]


def _shared(row: Row, column: str) -> str:
    """Return how much of the results lies in the memory of arguments."""
    if column != "live_out_bytes" or not row["shared_bytes"]:
        return ""
    return f", of which {plain_bytes(row['shared_bytes'])} share memory with arguments"


def _held_by_others(row: Row) -> list[Block]:
    """Return how much else holds memory, where the program alone would fit.

    What it held already is at most its total less the request that failed.
    """
    limit, used = limit_of(row), row["in_use_bytes"]
    if not is_of_request(row) or used is None or limit is None:
        return []
    needed, requested = row["needed_bytes"], row["requested_bytes"]
    own = needed - requested
    if needed > _BELOW_LIMIT * limit or own < 0 or used <= own:
        return []
    text = (
        f"The program alone fits: {plain_bytes(needed)} of {plain_bytes(limit)}. Of the"
        f" {plain_bytes(used)} in use at most {plain_bytes(own)} are its own, as the"
        f" request is not among them: at least {plain_bytes(used - own)} are held by"
        " something else. Look for arrays that are kept alive (jax.live_arrays() lists"
        " them), and for other programs and calls that have not ended in this process."
    )
    return [Paragraph(text)]


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
    # A log without its dump knows no line.
    has_lines = any(map(_line, buffers))
    rows = [
        (
            plain_bytes(row["size_bytes"]),
            plain_bytes(row["data_bytes"]),
            row["kind"] or "",
            row["shape"] or "",
            _operation(row),
            *((_line(row),) if has_lines else ()),
        )
        for row in buffers
    ]
    lines = ("source line",) if has_lines else ()
    header = ("size", "data", "kind", "shape", "operation", *lines)
    return table(header, rows, top, numeric=(0, 1))


def _operation(row: Row) -> str:
    """Return what a buffer is for: its framework path, instruction or label."""
    label, instruction = row["label"], row["instruction"]
    is_instruction = instruction and label and f"{instruction} = " in label
    if row["is_copy"] and instruction and row["op_name"]:
        return f"{instruction}, a copy of {row['op_name']}"
    if row["op_name"] and (is_instruction or not label):
        return str(row["op_name"])
    if label is None or is_instruction:
        return str(instruction or row["op_name"] or "")
    more = row["op_name"]
    if more is None and instruction is not None and instruction not in label:
        more = instruction
    said = _short(label)
    return f"{said} ({more})" if more else said


def _short(label: str) -> str:
    """Return a label without the text of an instruction, which may be of megabytes."""
    said = label.split(" = ", 1)[0].rpartition(" (")[0] if " (" in label else ""
    said = said or label.partition(", backend_config=")[0]
    return f"{said[: _LONGEST_LABEL - 1]}…" if len(said) > _LONGEST_LABEL else said


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
    if misfit := misfit_of(overview, row):
        return _misfit(misfit)
    if program := refused(overview):
        return f"The message names no program; the compiler refused {program}."
    return "Nothing in the message says which program of the dump it was."


def _misfit(misfit: Row) -> str:
    """Return why no program of the dump can be that of a report."""
    said = []
    if misfit["is_other_platform"]:
        said.append(_platforms(misfit))
    if misfit["is_too_large"]:
        said.append(
            f"No dumped program can ask for {plain_bytes(misfit['asked_bytes'])}:"
            f" {misfit['program']}, the largest, reserves"
            f" {plain_bytes(misfit['reserved_bytes'])}."
        )
    if misfit["is_other_platform"]:
        return f"{' '.join(said)} The dump is of another program or platform."
    return (
        f"{' '.join(said)} The dump is of another program, or the request was for an"
        " array outside of programs."
    )


def _platforms(misfit: Row) -> str:
    return (
        f"The message is about {misfit['device']}, but the dump is of platform"
        f" {misfit['platforms']}."
    )


def _on_other_platform(row: Row, overview: Overview) -> str:
    """Return that the program of a report was dumped for another platform."""
    misfit = misfit_of(overview, row)
    if misfit is None or not misfit["is_other_platform"]:
        return ""
    return (
        f"{_platforms(misfit)} On {misfit['device']} the program may have other sizes."
    )


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
