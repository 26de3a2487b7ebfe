"""What grew from one night to the next in dumps of TensorFlow and PyTorch/XLA.

Functions are counted through the process by TensorFlow, and all of PyTorch's programs
have one name: that a function more comes first must not hide which one grew.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.names import called, shared_names
from hlodb.reports.judge.report import Report
from hlodb.reports.judge.sentences import dominating_source
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.compilations import compile_counts
from hlodb.reports.read.facts import read_modules, read_runs
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, FRAMEWORKS
from tests.reports.matching import match_modules


@pytest.fixture(scope="module")
def reports(framework_warehouse: Path) -> dict[str, Report]:
    with connect(framework_warehouse) as connection:
        return {
            framework: build_report(
                connection,
                Request(
                    candidate=f"{framework}/second",
                    baseline=f"run:{framework}/first",
                    kind="diff",
                ),
                Settings(floor_bytes=0, floor_ratio=0.0),
            )
            for framework in FRAMEWORKS
        }


def opcodes_of(connection: Connection, module_id: int) -> dict[str, int]:
    """Return how often each opcode stands in a module."""
    rows = connection.execute(
        "SELECT coalesce(opcode, ''), count(*) FROM instructions"
        " WHERE module_id = ? AND computation_id IS NOT NULL GROUP BY ALL",
        [module_id],
    ).fetchall()
    return dict(rows)


def similarity(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Return the share of equal opcodes."""
    least = sum(min(a.get(kind, 0), b.get(kind, 0)) for kind in a.keys() | b.keys())
    return least / (sum(a.values()) + sum(b.values()) - least)


def pairs(warehouse: Path, framework: str) -> Iterator[tuple[object, ...]]:
    """Yield program and number in both nights, and why they are the same."""
    with connect(warehouse) as connection:
        base, candidate = [
            run for run in read_runs(connection) if run.name.startswith(framework)
        ]
        modules = read_modules(connection, [base, candidate])
        found, _, new = match_modules(connection, modules, base, candidate)
    for m in sorted(found, key=lambda m: m.base.module_number or 0):
        b, c = m.base, m.candidate
        yield b.program, b.module_number, c.program, c.module_number, m.method
    for module in new:
        yield None, None, module.program, module.module_number, None


@pytest.mark.parametrize("framework", FRAMEWORKS[1:])
def test_a_tensorflow_function_keeps_its_name(
    framework_warehouse: Path, framework: str
) -> None:
    names = (
        "inference_step",
        "inference_reset",
        "inference_nothing",
        "forward_layer_2",
        "backward_layer_2",
        "cluster",
    )
    same = [(n, at, n, at + 1, "program") for at, n in enumerate(names)]
    new = (None, None, "inference_double", 0, None)
    assert list(pairs(framework_warehouse, framework)) == [*same, new]


def test_pytorch_programs_are_told_apart(framework_warehouse: Path) -> None:
    found = list(pairs(framework_warehouse, "pytorch-2.9.0"))
    assert {c for _, _, c, _, _ in found} == {"SyncTensorsGraph"}
    assert [(b, c, method) for _, b, _, c, method in found] == [
        (0, 1, "program"),
        (1, 2, "program"),
        (3, 4, "program name and opcodes"),
        (4, 5, "program"),
        (5, 6, "program"),
        (6, 7, "program name and opcodes"),
        (None, 0, None),
    ]


KERAS = "_one_step_on_data_"
SCRIPT = "/opt/programs/frameworks/train.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("framework", "moved"),
    [
        (
            "tensorflow-2.13.1",
            [
                ("inference_step", "worse", 34_248, 67_056, (SCRIPT, 51)),
                ("inference_double", "new", None, 24, None),
            ],
        ),
        (
            # This release names no line of the caller.
            "tensorflow-2.21.0",
            [
                ("inference_step", "worse", 34_248, 52_464, (None, None)),
                ("inference_double", "new", None, 24, None),
            ],
        ),
        (
            "pytorch-2.9.0",
            [
                ("SyncTensorsGraph #1", "worse", 35_572, 52_120, (SCRIPT, 106)),
                ("SyncTensorsGraph #4", "changed", 8_352, 14_624, (SCRIPT, 116)),
                ("SyncTensorsGraph #7", "changed", 156, 304, (SCRIPT, 118)),
                ("SyncTensorsGraph #0", "new", None, 36, None),
            ],
        ),
    ],
)  # fmt: skip
def test_what_moved(
    reports: dict[str, Report], framework: str, moved: list[tuple[object, ...]]
) -> None:
    report = reports[framework]
    shared = shared_names(report)
    assert [
        (
            called(f, shared), f.state, f.base_bytes, f.candidate_bytes,
            (f.buffers[0].source_file, f.buffers[0].source_line) if f.buffers else None,
        )
        for f in report.findings
    ] == moved  # fmt: skip
    assert len({f.id for f in report.findings}) == len(moved)
    assert {f.residual_bytes for f in report.findings} <= {0, None}


@pytest.mark.slow
def test_a_line_of_tensorflow_itself_is_nobodys(reports: dict[str, Report]) -> None:
    """Releases since 2.15 name one for whatever the user wrote."""
    lines = {}
    for framework, report in reports.items():
        source = dominating_source(report.findings[0])
        lines[framework] = source and (source.source_file, source.source_line)
    assert lines == {
        "tensorflow-2.13.1": (SCRIPT, 51),
        "tensorflow-2.21.0": None,
        "pytorch-2.9.0": (SCRIPT, 106),
    }


@pytest.mark.slow
def test_a_recompiled_program_is_told_from_others_of_its_name(
    reports: dict[str, Report],
) -> None:
    """Line 118 sums tensors of two sizes; the other programs have their name alone."""
    found = {
        framework: [(h.name, h.base, h.candidate) for h in report.health]
        for framework, report in reports.items()
    }
    assert found == {
        "pytorch-2.9.0": [("SyncTensorsGraph", 2, 2)],
        **{framework: [] for framework in FRAMEWORKS[1:]},
    }


def test_steps_of_keras_are_no_recompilations(tmp_path: Path) -> None:
    """Those of fit, evaluate and predict share a name."""
    with tarfile.open(DATA / "frameworks" / "training.tar.xz") as archive:
        archive.extractall(tmp_path / "run")
    for path in (tmp_path / "run").iterdir():
        text = re.sub("_(plain|remat|accumulate)_", KERAS, path.read_text())
        path.rename(new := Path(re.sub("_(plain|remat|accumulate)_", KERAS, str(path))))
        new.write_text(text)
    database = tmp_path / "w.duckdb"
    ingest([str(tmp_path / "run")], database, jobs=1)
    with connect(database) as connection:
        [run] = read_runs(connection)
        assert compile_counts(connection, run) == {
            "inference_one_step_on_data": 1,
            "inference_recurrent": 1,
        }


@pytest.mark.slow
def test_a_step_of_pytorch_counts_at_each_of_its_sizes(tmp_path: Path) -> None:
    """As does one of another name."""
    name, step = "SyncTensorsGraph", "jit_train_step"
    with tarfile.open(DATA / "sizes" / "cpu.tar.xz") as archive:
        archive.extractall(tmp_path / step)
    (tmp_path / name).mkdir()
    for path in (tmp_path / step).iterdir():
        text = path.read_text().replace(step, name)
        (tmp_path / name / path.name.replace(step, name)).write_text(text)
    database = tmp_path / "w.duckdb"
    ingest([str(tmp_path / name), str(tmp_path / step)], database, jobs=1)
    with connect(database) as connection:
        runs = {run.name: run for run in read_runs(connection)}
        for program in (name, step):
            assert compile_counts(connection, runs[program]) == {program: 13}


def test_a_training_with_a_layer_more_is_held_against_itself(
    training_warehouse: Path,
) -> None:
    """Its first step, which makes the optimiser's state, against the first step.

    By opcodes alone the first step of the base is most like a later one of the
    candidate: what another layer adds is as much as what the optimiser does.
    """
    with connect(training_warehouse) as connection:
        base, candidate = read_runs(connection)
        modules = read_modules(connection, [base, candidate])
        found, gone, new = match_modules(connection, modules, base, candidate)
        before, after = modules[base.run_id], modules[candidate.run_id]
        first, straight, crossed = (
            opcodes_of(connection, m.earliest_id) for m in (before[0], *after[:2])
        )
    assert similarity(first, crossed) > similarity(first, straight)
    assert sorted((m.base.module_number, m.candidate.module_number) for m in found) == [
        (0, 0),
        (1, 1),
    ]
    assert (gone, [m.module_number for m in new]) == ([], [2, 3])
