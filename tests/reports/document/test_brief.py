"""What stands below the headline: why, whose, and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import duckdb
import pytest

from hlodb.errors import UsageError
from hlodb.queries.run import run_query
from hlodb.reports.build import build_diff, build_report
from hlodb.reports.config.codeowners import parse_codeowners
from hlodb.reports.config.reading import read_settings
from hlodb.reports.config.settings import Settings, Waiver
from hlodb.reports.document.blocks import Block, Commands, Paragraph
from hlodb.reports.document.brief import brief
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect
from tests.reports.situations import (
    EVAL,
    EXTRA,
    GROWN,
    MIB,
    STEP,
    WORK,
    night,
)
from tests.reports.situations import report_on as report_on_situation
from tests.reports.worlds import Program, make

JAX = "/venv/lib/python3.11/site-packages/jax/_src"


def lines(blocks: list[Block]) -> list[str]:
    found: list[str] = []
    for block in blocks:
        if isinstance(block, Paragraph):
            found.append(block.text)
        elif isinstance(block, Commands):
            found += [f"$ {line}" for line in block.lines]
    return found


def test_a_gain_is_not_kept_while_a_larger_rise_is_open(tmp_path: Path) -> None:
    nights = [
        night(number, Program("jit_step", (replace(WORK, size=size * MIB),)))
        for number, size in enumerate((4, 12, 10), 1)
    ]
    with connect(make(tmp_path / "w.duckdb", *nights)) as connection:
        first, *others = lines(brief(build_report(connection, Request(), Settings())))
    assert first.startswith("jit_step CPU memory -2.00 MiB (-16.7 %): ")
    assert others == [
        'Still open: jit_step CPU memory +8.00 MiB since run "night-2"; now 6.00 MiB'
        " above the level before it (4.00 → 10.00 MiB), finding 2fef43d5923c (not"
        " triaged).",
        "$ hlodb triage",
    ]


WIDER = "(f32[16]{0})->f32[8]{0}"


def program(name: str, size: int, shapes: str = STEP.shapes) -> Program:
    work = (replace(WORK, size=size * MIB),)
    return replace(STEP, name=name, buffers=work, shapes=shapes, source=None)


def test_a_program_with_other_inputs_is_named_once(tmp_path: Path) -> None:
    """Also where a fall leads."""
    nights = (
        night(1, program("jit_a", 4), program("jit_b", 900), program("jit_c", 8)),
        night(
            2, program("jit_a", 6), program("jit_b", 20), program("jit_c", 230, WIDER)
        ),
    )
    with connect(make(tmp_path / "w.duckdb", *nights)) as connection:
        diff = build_diff(connection, "night-1", "night-2", Settings(), top=5)
    told = [line for line in lines(brief(diff)) if "jit_c" in line]
    assert told == [
        "jit_c CPU memory +222.00 MiB (+2,775.0 %): inputs changed; largest part:"
        " resized: dot f32[1024,1024] to f32[1024,1024] (+222.00 MiB)."
    ]


def test_other_programs_with_other_inputs_are_named_behind_the_worst(
    tmp_path: Path,
) -> None:
    """Where they moved at least a tenth as much."""
    with connect(
        make(
            tmp_path / "w.duckdb",
            night(1, program("jit_a", 4), program("jit_b", 8), program("jit_c", 90)),
            night(
                2,
                program("jit_a", 24, WIDER),
                program("jit_b", 5, WIDER),
                program("jit_c", 91, WIDER),
            ),
        )
    ) as connection:
        first, *others = lines(brief(build_report(connection, Request(), Settings())))
    assert first.startswith("Why: inputs changed; largest part: ")
    assert [line for line in others if line.startswith("Also: ")] == [
        "Also: jit_b CPU memory -3.00 MiB (-37.5 %): inputs changed; largest part:"
        " resized: dot f32[1024,1024] to f32[1024,1024] (-3.00 MiB)."
    ]


SITUATIONS = {
    "no_change": [],
    "improvement_only": [
        "jit_eval CPU memory -2.00 MiB (-40.0 %): 1 buffer of exp is gone from the peak"
        " (-2.00 MiB).",
        "Next: keep the gain, with budgets just above the present size.",
        "$ hlodb report --run night-2 --propose-budgets >> hlodb.toml",
    ],
    "still_there": [
        'Still open: jit_step CPU memory +2.00 MiB since run "night-2", finding'
        " 2fef43d5923c"
        " (not triaged).",
        "$ hlodb triage",
    ],
    "still_missing": [
        'Still missing: jit_eval since run "night-2", finding f58a243efecd (not'
        " triaged).",
        "$ hlodb triage",
    ],
    "fixed": [
        "jit_step CPU memory -2.00 MiB (-33.3 %): 1 buffer of exp is gone from the peak"
        " (-2.00 MiB).",
    ],
    "missing_program": [
        'Why: run "night-1" has the program, "night-2" has not.',
        "Owner unknown: add one under [owners] in hlodb.toml.",
        "$ hlodb modules --run night-2",
    ],
    "rejects": [
        "Why: night-2 has 2 rejects (bad_size), first at module_0001.txt:1.",
        "$ hlodb query rejects_summary -p run=night-2",
    ],
    "no_baseline": [
        "Next: ingest another run and report again. Budgets set limits already:",
        "$ hlodb report --run night-1 --propose-budgets >> hlodb.toml",
    ],
    "budget_failed": [
        "Why: jit_step CPU memory is 3.00 MiB over the budget of 1.00 MiB.",
        "$ hlodb query peak_contents -p run=night-2 -p program=jit_step",
    ],
}


@pytest.mark.slow
def test_programs_of_two_platforms_are_put_side_by_side(tmp_path: Path) -> None:
    """Their bytes do not compare, and no other name of them helps."""
    elsewhere = replace(night(2, GROWN), platform="gpu")
    path = make(tmp_path / "hlodb.duckdb", night(1, STEP), elsewhere)
    with connect(path) as connection:
        found = [
            build_report(
                connection, Request("night-2", "night-1", kind=kind), Settings()
            )
            for kind in ("diff", "report")
        ]
        assert [lines(brief(report)) for report in found] == 2 * [
            [
                "1 program in both runs, but compiled for another platform: the bytes"
                " are not comparable. Side by side, in the latest run of each platform,"
                " device and compiler:",
                "$ hlodb query backend_compare -p program=jit_step",
            ]
        ]
        asked = {"program": "jit_step"}
        rows = run_query(connection, "backend_compare", asked).dicts()
    assert [(row["run"], row["reserved_bytes"]) for row in rows] == [
        ("night-1", 4 * MIB),
        ("night-2", 6 * MIB),
    ]


@pytest.mark.slow
def test_runs_without_a_common_program_list_their_programs(tmp_path: Path) -> None:
    other = replace(EVAL, shapes="(f32[16]{0})->f32[8]{0}")
    path = make(tmp_path / "hlodb.duckdb", night(1, STEP), night(2, other))
    with connect(path) as connection:
        request = Request("night-2", "night-1", kind="diff", db="my nights.duckdb")
        report = build_report(connection, request, Settings())
    assert lines(brief(report)) == [
        "The runs have no program in common. To compare two of other names, pass"
        " RUN:PROGRAM twice; these commands list the names:",
        "$ hlodb --db 'my nights.duckdb' modules --run night-1",
        "$ hlodb --db 'my nights.duckdb' modules --run night-2",
    ]


@pytest.mark.slow
def test_a_report_without_a_base_says_what_it_did(tmp_path: Path) -> None:
    chip = {"platform": "tpu", "device": "TPU v5e"}
    nights = (night(1, STEP), night(2, STEP), night(3, GROWN, **chip))
    with connect(make(tmp_path / "hlodb.duckdb", *nights)) as connection:
        report = build_report(connection, Request(), Settings())
    why = "none of the 2 earlier runs is of this device (TPU v5e)"
    assert (report.headline, report.exit_code) == (f"⚪ nothing to compare: {why}", 4)
    assert lines(brief(report)) == [
        f'No run to compare with: {why}. This report lists what "night-3" needs, and'
        " judges limits and budgets only; a later run of this device is compared with"
        " it. Exit code 4: --allow-empty makes it 0.",
        "$ hlodb runs",
    ]


@pytest.mark.slow
def test_a_waiver_covers_what_is_still_missing(tmp_path: Path) -> None:
    """As it does a rise that is still there."""
    nights = (night(1, STEP, EVAL), night(2, STEP), night(3, STEP))
    waiver = Waiver("jit_eval", "eval", "it is gone for good", date(2027, 2, 1))
    settings = Settings(waivers=(waiver,))
    with connect(make(tmp_path / "hlodb.duckdb", *nights)) as connection:
        report = build_report(connection, Request(), settings)
    (finding,) = report.findings
    assert (finding.change, finding.state, finding.stands) == ("failed", "waived", True)
    assert lines(brief(report)) == []
    assert json.loads(renderer("sarif")(report))["runs"][0]["results"] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SITUATIONS)
def test_situations(reported: Callable[[str], Report], name: str) -> None:
    assert lines(brief(reported(name))) == SITUATIONS[name]


def report_of(tmp_path: Path, settings: Settings) -> Report:
    nights = [
        night(1, STEP, commit="aaa"),
        night(2, GROWN, commit="bbb"),
        night(3, replace(GROWN, text="reordered"), commit="ccc"),
    ]
    path = make(tmp_path / "hlodb.duckdb", *nights)
    with connect(path) as connection:
        return build_report(connection, Request(baseline="night-1"), settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (
            Settings(fragmentation_ratio=0.5),
            "Why: jit_step #1 CPU memory is 0.727273, the limit 0.5: the share of"
            " its memory"
            " that is never live at once.",
        ),
        (
            Settings(padding_ratio=0.01),
            "Why: jit_step #1 CPU memory is 0.045455, the limit 0.01: the share of"
            " its memory"
            " that is room beyond its data.",
        ),
        (
            Settings(recompiles=1),
            "Why: jit_step is 2, the limit 1: how often it was compiled.",
        ),
    ],
)
def test_a_limit_says_what_it_is_about(
    tmp_path: Path, settings: Settings, why: str
) -> None:
    """Of a share or a number nobody sees it."""
    hollow = Program("jit_step", (WORK, replace(EXTRA, offset=20 * MIB)), padding=MIB)
    with connect(make(tmp_path / "hlodb.duckdb", night(1, hollow, STEP))) as connection:
        report = build_report(connection, Request(), settings)
    assert lines(brief(report))[0] == why


@pytest.mark.slow
def test_owner_and_commits_of_a_regression(tmp_path: Path) -> None:
    owners = parse_codeowners("* @everybody\n/model/ @training\n")
    report = report_of(tmp_path, Settings(source_owners=owners))
    (finding,) = [f for f in report.findings if f.scope == "candidate"]
    assert lines(brief(report)) == [
        "Largest part: 1 new buffer of exp (+2.00 MiB).",
        "Likely cause: XLA fusion. Line of the largest buffer that changed:"
        " model/train.py:18."
        " Owner: @training.",
        'Since: run "night-2".',
        "$ hlodb diff night-1:jit_step night-3:jit_step",
        "$ hlodb query peak_contents -p run=night-3 -p program=jit_step",
        "Build and dump the commit that this prints, if one lies between:",
        "$ git rev-list --bisect 'ccc^@' '^aaa'",
        "If this is wanted:",
        f"$ hlodb triage {finding.id} accept --reason '…'",
    ]


@pytest.mark.slow
def test_the_owner_of_a_program_comes_first(tmp_path: Path) -> None:
    owners = parse_codeowners("* @everybody\n")
    settings = Settings(source_owners=owners, owners=(("jit_s*", "step-team"),))
    findings = report_of(tmp_path, settings).findings
    assert {f.owner for f in findings} == {"step-team"}


@pytest.mark.slow
def test_whose_it_is_is_told_by_the_users_line(tmp_path: Path) -> None:
    """Not by the framework's, from which XLA was called."""
    path = make(tmp_path / "hlodb.duckdb", night(1, STEP), night(2, GROWN))
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "UPDATE store.location_lists SET source_file = ?, stack_frame_id = 2",
            [f"{JAX}/lax.py"],
        )
        for number, file, line in ((1, "model/softmax.py", 33), (2, f"{JAX}/nn.py", 9)):
            connection.execute(
                "INSERT INTO store.stack_frames BY NAME SELECT DISTINCT frames_id,"
                " ? AS stack_frame_id, ? AS file_name, ? AS line, 1 AS user_frame_id"
                " FROM store.location_sets",
                [number, file, line],
            )
    owners = parse_codeowners("jax/ @jax\nmodel/ @training\n")
    with connect(path) as connection:
        settings = Settings(source_owners=owners)
        report = build_report(connection, Request(), settings)
    assert lines(brief(report))[1] == (
        "Likely cause: XLA fusion. Line of the largest buffer that changed:"
        " model/softmax.py:33."
        " Owner: @training."
    )


def test_codeowners_lies_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "CODEOWNERS").write_text("model/ @training\n")
    file = tmp_path / "hlodb.toml"
    file.write_text('[report]\ncodeowners = "CODEOWNERS"\n')
    assert read_settings(file).source_owners == (("model/", "@training"),)
    (tmp_path / "CODEOWNERS").unlink()
    with pytest.raises(UsageError, match=r"cannot read .*CODEOWNERS"):
        read_settings(file)


def test_comments_and_summaries_accept_by_waivers(tmp_path: Path) -> None:
    """Their readers have no warehouse to record a decision in."""
    report = report_on_situation("one_regression", tmp_path)
    [f] = report.findings
    waiver = f"""# in hlodb.toml
[[waiver]]
program = "{f.program}"
space = "{f.space}"
owner = "…"
reason = "…"
until = …  # the first day on which it no longer holds
"""
    for form in ("comment", "summary"):
        text = renderer(form)(report)
        assert f"If this is wanted:\n\n```toml\n{waiver}```" in text
        assert "hlodb triage" not in text
    for form in ("text", "markdown"):
        text = renderer(form)(report)
        assert f"hlodb triage {f.id} accept" in text
        assert "[[waiver]]" not in text
