"""One thing changed in a program: the report says exactly that."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.blocks import Paragraph
from hlodb.reports.document.brief import brief
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.report import Report
from hlodb.reports.judge.sentences import gate_sentence
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.details import Divergence
from hlodb.reports.read.differences import read_lost_donations
from hlodb.reports.read.facts import read_modules, read_runs
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

EXACT = Settings(floor_bytes=0, floor_ratio=0.0)
KIB = 1024


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("changes") / "changes.duckdb"
    for dump in sorted((DATA / "changes").glob("*/*")):
        if "__pycache__" not in dump.parts:
            name = f"{dump.parent.name}/{dump.name.removesuffix('.tar.xz')}"
            ingest([str(dump)], path, request=RunRequest(name=name), jobs=1)
    return path


def change(warehouse: Path, what: str, how: str, base: str = "base") -> Finding:
    request = Request(
        candidate=f"{what}/{how}", baseline=f"run:{what}/{base}", kind="diff"
    )
    with connect(warehouse) as connection:
        (finding,) = build_report(connection, request, EXACT).findings
    assert finding.residual_bytes == 0
    return finding


def parts(finding: Finding) -> dict[tuple[str, str], int]:
    return {(p.part, p.kind): p.delta_bytes for p in finding.parts}


def title(finding: Finding) -> str:
    """Return what the compiler made of a change."""
    assert finding.cause is not None
    return finding.cause.effect or finding.cause.title


EDITS = {
    ("tensor", "doubled"): (
        "other shapes in 4 operations, as f32[64,64] → f32[128,64], first at"
        " make_changes.py:47"
    ),
    ("donation", "dropped"): "v no longer donated",
    ("donation", "reordered"): (
        "make_changes.py:86 compile_variant.<locals>.donation: new output f32[] of"
        " reduce_sum"
    ),
    ("dtype", "widened"): ("s16 → s32 in 4 operations, first at make_changes.py:63"),
    ("remat", "extra"): (
        "make_changes.py:75 compile_variant.<locals>.remat.<locals>.loss: a"
        " checkpoint added to others (15 → 30 operations are recomputed)"
    ),
    ("zoo-donation", "dropped"): "p[0][0] and 5 more arguments no longer donated",
    # Its type is an input: the operations on it are nobody's edit.
    ("zoo-dtype", "widened"): (
        "retyped: w1 bf16[8,128,256] to f32[8,128,256] (+512.00 KiB)"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "how"),
    EDITS,
)
def test_the_cause_is_the_edit_at_its_line(
    warehouse: Path, what: str, how: str
) -> None:
    cause = change(warehouse, what, how).cause
    assert cause is not None
    assert cause.title == EDITS[what, how]


@pytest.mark.slow
def test_one_tensor_doubled(warehouse: Path) -> None:
    finding = change(warehouse, "tensor", "doubled")
    assert parts(finding) == {("resized", "temp"): 16 * KIB}
    assert title(finding) == "resized: slice f32[64,64] to f32[128,64] (+16.00 KiB)"


@pytest.mark.slow
def test_one_donation_dropped(warehouse: Path) -> None:
    finding = change(warehouse, "donation", "dropped")
    assert parts(finding) == {("alias", "live_out"): 32 * KIB}
    assert title(finding) == (
        "lost alias: tanh, output {1} shared its memory with a parameter (+32.00 KiB)"
    )
    assert finding.divergence is not None
    assert finding.divergence.blame == "program"


DONATION = Request(candidate="zoo-donation/dropped", baseline="run:zoo-donation/base")


def donation_report(warehouse: Path, settings: Settings) -> Report:
    with connect(warehouse) as connection:
        return build_report(connection, DONATION, settings)


@pytest.mark.slow
def test_the_gate_of_donations_says_what_was_lost(warehouse: Path) -> None:
    """Not the whole difference, half of which something else made up for."""
    report = donation_report(warehouse, EXACT)
    (gate,) = [g for g in report.gates if g.gate == "donation_loss"]
    (finding,) = [f for f in report.findings if f.id == gate.finding_id]
    assert (finding.delta_bytes, gate.value) == (545_832, 1_077_288)
    assert gate_sentence(gate, finding, set()) == (
        "jit_zoo_mlp CPU memory: 1.03 MiB of outputs no longer take over the memory of"
        " arguments (limit 0 B); memory grew by 533.04 KiB"
    )


@pytest.mark.slow
def test_a_loss_below_the_floors_of_the_whole_fails_its_gate(warehouse: Path) -> None:
    report = donation_report(warehouse, Settings())
    (row,) = [p for p in report.programs if p.program == "jit_zoo_mlp"]
    assert (row.change, row.rule, row.delta_bytes) == ("same", "below_floor", 545_832)
    (gate,) = [g for g in report.gates if g.status == "fail"]
    (finding,) = [f for f in report.findings if f.scope == "candidate"]
    assert (gate.gate, gate.value) == ("donation_loss", 1_077_288)
    assert (gate.finding_id, finding.change) == (finding.id, "same")
    assert report.headline == (
        "❌ 1 gate failed: jit_zoo_mlp CPU memory: 1.03 MiB of outputs no longer take"
        " over the memory of arguments (limit 1.00 MiB); memory grew by 533.04 KiB"
    )
    said = [b.text for b in brief(report) if isinstance(b, Paragraph)]
    first, advice, *_ = said
    assert first.startswith("Why the gate donation_loss failed: ")
    assert first.endswith(" no longer donated.")
    assert advice == (
        "To undo: Donate them again: donate_argnums, donate_argnames, donate."
    )


@pytest.mark.slow
def test_a_donation_gained_is_the_opposite_of_one_lost(warehouse: Path) -> None:
    names = ("zoo-donation/base", "zoo-donation/dropped")
    with connect(warehouse) as connection:
        runs = {run.name: run for run in read_runs(connection)}
        found = read_modules(connection, [runs[name] for name in names])
        (base,), (dropped,) = (found[runs[name].run_id] for name in names)
        pairs = [(base, base), (base, dropped), (dropped, base)]
        lost = read_lost_donations(connection, pairs)
    assert [dict(each) for each in lost] == [{}, {0: 1_077_288}, {0: -1_077_288}]


@pytest.mark.slow
def test_one_dtype_widened(warehouse: Path) -> None:
    finding = change(warehouse, "dtype", "widened")
    assert parts(finding) == {
        ("retyped", "temp"): 16 * KIB,
        ("retyped", "thread_local"): 4,
    }
    assert title(finding) == (
        "retyped: convert_element_type s16[64,128] to s32[64,128] (+16.00 KiB)"
    )


@pytest.mark.slow
def test_one_more_block_recomputed(warehouse: Path) -> None:
    finding = change(warehouse, "remat", "extra")
    assert parts(finding) == {("lifetime", "temp"): -16 * KIB}
    assert title(finding) == (
        "1 buffer of dot_general no longer live at the peak (-16.00 KiB)"
    )


IN_THE_ZOO = {
    ("tensor", "doubled"): (
        {("resized", "parameter"): 8 * KIB},
        "resized: p['pos'] f32[64,32] to f32[128,32] (+8.00 KiB)",
    ),
    ("donation", "dropped"): (
        {
            ("alias", "live_out"): 1_077_288,
            ("allocation_kind", "temp"): -785 * KIB,
            ("lifetime", "temp"): 266 * KIB,
        },
        "lost alias: sub, output {0} shared its memory with a parameter and 5 more"
        " (+1.03 MiB, others -519.00 KiB, net +533.04 KiB)",
    ),
    ("dtype", "widened"): (
        {("retyped", "parameter"): 512 * KIB},
        "retyped: w1 bf16[8,128,256] to f32[8,128,256] (+512.00 KiB)",
    ),
    ("remat", "extra"): (
        {
            ("gone", "temp"): -3_375_616,
            ("new", "temp"): 454 * KIB,
            ("lifetime", "temp"): -64 * KIB,
            ("fragmentation", "temp"): -392,
            ("new", "thread_local"): 72,
        },
        "27 buffers, 26 of while, are gone from the peak"
        " (-3.22 MiB, others +389.69 KiB, net -2.84 MiB)",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("what", "how"), IN_THE_ZOO)
def test_the_same_changes_in_programs_of_the_zoo(
    warehouse: Path, what: str, how: str
) -> None:
    finding = change(warehouse, f"zoo-{what}", how)
    assert (parts(finding), title(finding)) == IN_THE_ZOO[what, how]
    assert finding.cause is not None
    assert finding.cause.blame == "program"


@pytest.mark.slow
def test_the_source_line_is_named(warehouse: Path) -> None:
    (buffer,) = change(warehouse, "donation", "dropped").buffers
    assert (buffer.source_file, buffer.op_path) == ("make_changes.py", "optimizer/tanh")


# --- Where two compilations that were dumped after every pass part ----------------


AFTER_LAYOUT = "HLO_passes_after_layout_assignment"


@pytest.mark.slow
def test_the_pass_that_only_the_base_ran(warehouse: Path) -> None:
    finding = change(warehouse, "fusion", "off", base="on")
    assert finding.divergence == Divergence(
        "after_layout_assignment: after pipeline-start",
        f"{AFTER_LAYOUT}: after fusion (in the base only)",
        "fusion",
        "the input of that pass is the same",
    )
    assert finding.cause is not None
    assert finding.cause.blame == "fusion"


@pytest.mark.slow
def test_the_pass_that_only_the_candidate_ran(warehouse: Path) -> None:
    found = change(warehouse, "fusion", "on", base="off").divergence
    assert found is not None
    assert (
        found.first_different == f"{AFTER_LAYOUT}: after fusion (in the candidate only)"
    )
    assert found.blame == "fusion"


@pytest.mark.slow
def test_a_batch_that_is_no_longer_split_over_devices(warehouse: Path) -> None:
    finding = change(warehouse, "sharding", "whole", base="split")
    assert finding.divergence == Divergence(
        None,
        "before_optimizations",
        "program",
        "the programs handed to XLA have the same operations, the compiled ones are"
        " 71 % alike;"
        " the former are sharded otherwise",
    )


@pytest.mark.slow
def test_passes_that_run_many_times_are_told_apart(warehouse: Path) -> None:
    asked: dict[str, Value] = {"base": "fusion/on", "candidate": "fusion/on"}
    with connect(warehouse) as connection:
        (parting,) = run_query(connection, "first_divergence", asked).dicts()
        history = run_query(connection, "pass_history", {"run": "fusion/on"}).dicts()
    passes = [(row["pipeline"], row["pass_after"]) for row in history]
    assert passes.count(("simplification", "algsimp")) > 1
    assert parting["compared_stages"] == len(history)
    assert (parting["difference"], parting["first_different_stage"]) == ("none", None)
