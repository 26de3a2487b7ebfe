"""hlodb.toml: what it sets, and what is said about mistakes in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from hlodb.errors import UsageError
from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings, read_settings
from hlodb.reports.config.settings import Budget, Device, Settings, Waiver
from hlodb.reports.judge.gates import GateFacts, gate_rows
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.facts import Run
from hlodb.schema.warehouse import connect
from hlodb.text import parse_size, plain_bytes, signed_bytes
from tests.conftest import REPOSITORY
from tests.reports.situations import STEP, WORK, night
from tests.reports.worlds import Program, make

EVERYTHING = """
[report]
series = "nightly"
baseline = "window"
window = 14
main_branch = "trunk"
top = 5
codeowners = "CODEOWNERS"
link = "https://ci.example/latest.html"

[floors]
bytes = "512 KiB"
ratio = 0.01

[history]
bytes = 100
ratio = 0.02

[gates]
regression = false
missing_program = false
donation_loss = false
fragmentation_ratio = 0.25
padding_ratio = 0.1
recompiles = 4
replicated_bytes = "64 MiB"

[quality]
max_rejects = false
consistency = false

[owners]
"jit_train*" = "training"

[weights]
"jit_train*" = 10

[[device]]
device = "TPU v5e"
space = "hbm"
bytes = "16 GiB"

[[budget]]
program = "jit_train_step"
space = "hbm"
ratio = 0.9

[[budget]]
program = "jit_eval"
color = 0
bytes = 1_000

[[waiver]]
program = "jit_eval"
gate = "budget"
owner = "eval"
reason = "until the next chip"
until = 2027-03-01
"""


def test_everything_can_be_set() -> None:
    assert parse_settings(EVERYTHING) == Settings(
        baseline="window",
        window=14,
        main_branch="trunk",
        series="nightly",
        floor_bytes=512 << 10,
        floor_ratio=0.01,
        step_bytes=100,
        step_ratio=0.02,
        regression=False,
        missing_program=False,
        donation_loss=False,
        fragmentation_ratio=0.25,
        padding_ratio=0.1,
        recompiles=4,
        replicated_bytes=64 << 20,
        max_rejects=None,
        consistency=False,
        top=5,
        devices=(Device("TPU v5e", "hbm", 16 << 30),),
        budgets=(
            Budget("jit_train_step", space="hbm", ratio=0.9),
            Budget("jit_eval", color=0, bytes=1000),
        ),
        waivers=(
            Waiver(
                "jit_eval",
                "eval",
                "until the next chip",
                date(2027, 3, 1),
                gate="budget",
            ),
        ),
        owners=(("jit_train*", "training"),),
        codeowners="CODEOWNERS",
        link="https://ci.example/latest.html",
        weights=(("jit_train*", 10.0),),
    )


def test_nothing_need_be_set() -> None:
    assert parse_settings("") == Settings()


FAULTS = {
    "[floor]\nbytes = 1\n": (
        "hlodb.toml:1: there is no table 'floor'; did you mean floors?"
    ),
    "\n[floors]\nbyte = 1\n": (
        "hlodb.toml:3: [floors] has no key 'byte'; did you mean bytes?"
    ),
    "[floors]\nratio = 2\n": (
        "hlodb.toml:2: 'ratio' must be a share from 0 to 1, not 2"
    ),
    '[floors]\nbytes = "much"\n': (
        "hlodb.toml:2: 'bytes' 'much' is no size; write 30 GiB, 512 MiB or 4096, not"
        " 'much'"
    ),
    "[gates]\nregression = 1\n": (
        "hlodb.toml:2: 'regression' must be true or false, not 1"
    ),
    "[report]\nwindow = 0\n": (
        "hlodb.toml:2: 'window' must be a whole number, 1 or more, not 0"
    ),
    "[budget]\nprogram = 'a'\n": "hlodb.toml:1: write [[budget]], with two brackets",
    "[[budget]]\nprogram = 'a'\nbytes = 1\n\n[[budget]]\nprogram = 'b'\n": (
        "hlodb.toml:5: a budget has either 'bytes' or 'ratio'"
    ),
    "[[budget]]\nprogram = 'a'\nbytes = 1\n[[budget]]\nprogram = 'b'\nbytes = -1\n": (
        "hlodb.toml:6: 'bytes' must be a whole number, 0 or more, not -1"
    ),
    "[[waiver]]\nprogram = 'a'\nowner = 'me'\nuntil = 2027-01-01\n": (
        "hlodb.toml:1: waiver needs 'reason'"
    ),
    "[[waiver]]\nprogram='a'\nowner='b'\nreason='c'\nuntil = 'soon'\n": (
        "hlodb.toml:5: 'until' must be a day such as 2027-01-31, not 'soon'"
    ),
    "[[waiver]]\nprogram='a'\nowner='b'\nreason='c'\nuntil=2027-01-01\n"
    "gate='fragmentation_ratio'\n": (
        "hlodb.toml:6: 'gate' must be * or one of regression, changed_inputs,"
        " missing_program, budget, donation_loss, fragmentation, padding,"
        " recompiles, replicated, not"
        " 'fragmentation_ratio'"
    ),
    '[owners]\n"jit_*" = 3\n': "hlodb.toml:2: 'jit_*' must be text, not 3",
    "floors = 1\n": "hlodb.toml:1: write [floors] as a table of its own",
    "[floors\n": "hlodb.toml: line 1, column 8: Expected ']' at the end of a table"
    " declaration",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults_name_line_and_key(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_settings(text)
    assert str(caught.value) == FAULTS[text]


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_settings(tmp_path / "hlodb.toml")


def test_the_example_is_sound() -> None:
    settings = read_settings(REPOSITORY / "examples" / "hlodb.toml")
    assert (len(settings.budgets), len(settings.waivers)) == (2, 1)


SIZES = {"0": 0, "4096": 4096, "1_000 B": 1000, "1.5 KiB": 1536, "2gb": 2 * 10**9}


@pytest.mark.parametrize("text", SIZES)
def test_sizes(text: str) -> None:
    assert parse_size(text) == SIZES[text]


def test_sizes_as_people_read_them() -> None:
    assert [signed_bytes(n) for n in (0, -3, 1536, -(3 << 30))] == [
        "0 B",
        "-3 B",
        "+1.50 KiB",
        "-3.00 GiB",
    ]
    assert [plain_bytes(n) for n in (None, 1023, 1024)] == ["-", "1,023 B", "1.00 KiB"]


@pytest.mark.parametrize(
    ("sizes", "status"), [((900_000,), "pass"), ((900_000, 200_000), "fail")]
)
def test_a_missing_program_has_the_floor_of_other_findings(
    tmp_path: Path, sizes: tuple[int, ...], status: str
) -> None:
    """JAX's helpers and other small programs come and go."""
    gone = Program(
        "jit_small", tuple(replace(WORK, name=f"b{s}", size=s) for s in sizes)
    )
    worlds = night(1, STEP, replace(gone, source="small")), night(2, STEP)
    with connect(make(tmp_path / "hlodb.duckdb", *worlds)) as connection:
        report = build_report(connection, Request(), Settings())
    assert [f.program for f in report.findings if f.change == "failed"] == ["jit_small"]
    assert report.verdict == status
    (row,) = [g for g in report.gates if g.gate == "missing_program"]
    assert row.status == status


def test_replicated_bytes_of_programs_that_share_a_name() -> None:
    """Each is compared with its own base, and none hides another."""
    facts = GateFacts(
        findings=[],
        programs=[],
        platforms={},
        candidate=Run(1, "night", *[None] * (len(Run._fields) - 2)),
        limits={},
        refused=[],
        compiles={},
        replicated=[("step", 0, 50), ("step", 0, 300), ("step", 400, 400), ("b", 9, 8)],
        today=None,
        former={},
    )
    rows = gate_rows(facts, Settings(replicated_bytes=100))
    assert [(r.gate, r.status, r.program, r.limit, r.value) for r in rows] == [
        ("regression", "pass", None, 0, 0),
        ("changed_inputs", "pass", None, 0, 0),
        ("missing_program", "pass", None, 0, 0),
        ("donation_loss", "pass", None, 0, 0),
        ("replicated", "fail", "step", 100, 300),
    ]
