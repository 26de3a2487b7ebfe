"""The examples run as they stand: workflow, cron line, timer, pytest plugin."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hlodb.schema.warehouse import connect
from tests.conftest import DATA, REPOSITORY
from tests.replay.fake_jax import fake_python

EXAMPLES = REPOSITORY / "examples"
ACTION = REPOSITORY / "action.yml"
WAREHOUSE = "${{ inputs.warehouse }}"
IS_CACHED = "inputs.cache == 'true' && !contains(inputs.warehouse, '://')"
CHANGES = DATA / "changes"
CACHE_KEY = "hlodb-${{ github.run_id }}-${{ github.run_attempt }}"


@pytest.fixture
def commands(tmp_path: Path) -> dict[str, str]:
    """Return an environment with this checkout's `hlodb` and an idle pip."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    script(binaries / "hlodb", f'exec {sys.executable} -m hlodb "$@"')
    # What makes an environment, and fills it, has been done.
    script(binaries / "python", 'mkdir -p "$3/bin"; cp "$0" "$3/bin/pip"')
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HLODB")}
    python_path = os.pathsep.join([str(REPOSITORY), environment.get("PYTHONPATH", "")])
    path = f"{binaries}{os.pathsep}{environment['PATH']}"
    return {**environment, "PATH": path, "PYTHONPATH": python_path}


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/usr/bin/env bash\n{text}\n")
    path.chmod(0o755)


def run_steps(workflow: str) -> dict[str, str]:
    """Return the shell of every step that has any, by its name."""
    steps = {}
    for step in re.split(r"^ +- (?=name|uses)", workflow, flags=re.MULTILINE)[1:]:
        name = re.match(r"name: (.*)", step)
        shell = re.search(r"^ +run: (?:\|\n((?: {8,}.*\n|\n)+)|(.*))", step, re.M)
        if name and shell:
            steps[name[1]] = textwrap.dedent(shell[1] or shell[2])
    return steps


def night(folder: Path, variant: str, commands: dict[str, str]) -> list[int]:
    """Run the steps of the workflow on a dump; give their exit codes."""
    script(folder / "compile.sh", f'mkdir "$DUMP" && cp {CHANGES / variant}/* "$DUMP"')
    shutil.rmtree(folder / "dump", ignore_errors=True)
    steps = run_steps((EXAMPLES / "github-actions.yml").read_text())
    steps |= run_steps(ACTION.read_text())
    assert list(steps) == [
        "Compile the programs that matter, and dump them",
        "Install",
        "Ingest",
        "Report",
        "Gate",
    ]
    environment = {
        **commands,
        "HLODB_DB": "hlodb.duckdb",
        "DUMP": "dump",
        "DUMPS": "dump",
        "SERIES": "main",
        "RUN": variant,
        "ACTION": str(REPOSITORY),
        "RUNNER_TEMP": str(folder),
        "GITHUB_PATH": str(folder / "path"),
        "BRANCH": "main",
        "FORK_POINT": "",
        "GITHUB_SHA": "abc",
        "GITHUB_STEP_SUMMARY": str(folder / "step_summary.md"),
        "FAIL_ON": "regression",
    }
    return [
        subprocess.run(
            ["bash", "-e", "-c", shell],
            cwd=folder,
            env=environment,
            capture_output=True,
        ).returncode
        for shell in steps.values()
    ]


@pytest.mark.slow
def test_the_workflow(tmp_path: Path, commands: dict[str, str]) -> None:
    (tmp_path / "hlodb.toml").write_text('[floors]\nbytes = "1 KiB"\n')
    assert night(tmp_path, "donation/base", commands) == [0, 0, 0, 0, 0]
    assert night(tmp_path, "donation/dropped", commands) == [0, 0, 0, 0, 1]
    summary = (tmp_path / "step_summary.md").read_text()
    assert summary.count("\n## ") + summary.startswith("## ") == 2
    marker = (tmp_path / "comment.md").read_text().splitlines()[0]
    assert marker == "<!-- hlodb-report: main -->"
    (run,) = json.loads((tmp_path / "hlodb.sarif").read_text())["runs"]
    rules = [result["ruleId"] for result in run["results"]]
    assert sorted(rules) == ["donation_loss", "regression"]


def test_the_workflow_keeps_the_warehouse_where_a_gate_fails() -> None:
    """The cache action itself saves only what a job leaves that succeeds."""
    _, *steps = re.split(r"^    - ", ACTION.read_text(), flags=re.MULTILINE)
    assert [
        (found[1], *re.findall(r"^ +(?:if|path|key): (.*)", step, re.MULTILINE))
        for step in steps
        if (found := re.search(r"uses: (actions/cache.*)@|name: (Gate)", step))
    ] == [
        ("actions/cache/restore", f"${{{{ {IS_CACHED} }}}}", WAREHOUSE, CACHE_KEY),
        (
            "actions/cache/save",
            f"${{{{ !cancelled() && {IS_CACHED} }}}}",
            WAREHOUSE,
            CACHE_KEY,
        ),
        (None,),
    ]


def forecast(folder: Path, commands: dict[str, str], now: str) -> tuple[list[int], str]:
    """Run the steps of the forecast, whose compiler changes as `donation` did.

    Return their exit codes and what they show.
    """
    binaries = folder / "bin"
    script(binaries / "python", f"echo {now}")
    script(binaries / "pip", '[ "$1" = install ] || echo "jaxlib (0.99.0)"')
    base, dropped = (CHANGES / "donation" / name for name in ("base", "dropped"))
    script(folder / "compile.sh", f'mkdir "$DUMP" && cp {base}/* "$DUMP"')
    for release, dump in (("0.98.0", base), ("0.99.0", dropped)):
        home = folder / "hlodb" / "replay" / f"jax-{release}"
        fake_python(home / "bin", dump, release=release)
        (home / "complete").touch()
    added, summary = folder / "added", folder / "summary.md"
    environment = {
        **commands,
        "HLODB_DB": "next.duckdb",
        "DUMP": "dump",
        "GITHUB_ENV": str(added),
        "GITHUB_STEP_SUMMARY": str(summary),
        "XDG_CACHE_HOME": str(folder),
    }
    codes = []
    for shell in run_steps((EXAMPLES / "next-release.yml").read_text()).values():
        if added.exists():
            lines = added.read_text().splitlines()
            environment |= {
                name: value
                for name, _, value in (line.partition("=") for line in lines)
            }
        command = ["bash", "-e", "-c", shell]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
        codes.append(done.returncode)
    return codes, summary.read_text() if summary.exists() else ""


@pytest.mark.slow
def test_the_forecast_shows_what_the_next_release_costs(
    tmp_path: Path, commands: dict[str, str]
) -> None:
    """The donation of `v`, 32 KiB, is lost by the newer one."""
    codes, summary = forecast(tmp_path, commands, "0.98.0")
    assert codes == [0, 0, 0, 0]
    assert "jit_update" in summary
    assert "+32.00 KiB" in summary


@pytest.mark.slow
def test_the_forecast_ends_where_the_newest_release_is_in_use(
    tmp_path: Path, commands: dict[str, str]
) -> None:
    assert forecast(tmp_path, commands, "0.99.0") == ([0, 0, 0, 0], "")
    assert not (tmp_path / "next").exists()


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    folder = tmp_path / "dumps"
    shutil.copytree(CHANGES / "donation" / "base", folder / "2027-01-01")
    return folder


def nightly(tmp_path: Path, commands: dict[str, str], command: str) -> tuple[int, str]:
    environment = {
        **commands,
        "DUMPS": str(tmp_path / "dumps"),
        "HLODB_DB": str(tmp_path / "hlodb.duckdb"),
        "REPORTS": str(tmp_path / "reports"),
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout.partition("\n")[0]


def test_a_timer_calls_the_service_that_calls_the_script() -> None:
    timer, service = (
        configparser.ConfigParser(),
        configparser.ConfigParser(strict=False),
    )
    service.optionxform = str  # type: ignore[assignment,method-assign]
    timer.read(EXAMPLES / "hlodb.timer")
    service.read(EXAMPLES / "hlodb.service")
    assert timer["Timer"]["persistent"] == "true"
    assert service["Service"]["ExecStart"] == "/usr/share/hlodb/nightly.sh"
    assert (EXAMPLES / "nightly.sh").stat().st_mode & 0o111


@pytest.mark.slow
def test_the_nights_of_a_timer(
    tmp_path: Path, dumps: Path, commands: dict[str, str]
) -> None:
    (tmp_path / "hlodb.toml").write_text('[floors]\nbytes = "1 KiB"\n')
    command = str(EXAMPLES / "nightly.sh")
    first = nightly(tmp_path, commands, command)
    assert first == (
        0,
        '⚪ nothing to compare yet: "2027-01-01" is the first run of series "nightly"',
    )
    # A night is missed; the next one is compared with the last there is.
    shutil.copytree(CHANGES / "donation" / "dropped", dumps / "2027-01-03")
    code, line = nightly(tmp_path, commands, command)
    assert (code, line.partition(":")[0]) == (1, "❌ 1 regression (2 gates failed)")
    # Its dump comes late: the regression was there a night before.
    with connect(tmp_path / "hlodb.duckdb", read_only=False) as connection:
        connection.execute("UPDATE runs SET ingested_at = ingested_at - INTERVAL 1 DAY")
    shutil.copytree(CHANGES / "donation" / "dropped", dumps / "2027-01-02")
    assert nightly(tmp_path, commands, command) == (0, "✅ no regression; 1 same")
    report = json.loads((tmp_path / "reports" / "latest.json").read_text())
    assert [(f["scope"], f["first_run"]) for f in report["findings"]] == [
        ("history", "2027-01-02")
    ]
    assert report["notes"][1] == (
        'Ingested an hour or more after later runs of the series: "2027-01-02".'
        " Comparisons with their neighbours were renewed."
    )


@pytest.mark.slow
def test_a_channel_hears_of_what_changes(
    tmp_path: Path, dumps: Path, commands: dict[str, str]
) -> None:
    """Of a regression once, of a night without one after it, and of nothing else."""
    (tmp_path / "hlodb.toml").write_text('[floors]\nbytes = "1 KiB"\n')
    posted = tmp_path / "posted"
    script(tmp_path / "bin" / "curl", f'echo "${{@: -1}}" >> {posted}')
    commands["WEBHOOK"] = "https://hooks.example/T0"
    command = str(EXAMPLES / "nightly.sh")
    heard = []
    for day, variant in enumerate(("base", "base", "dropped", "dropped", "dropped"), 1):
        shutil.copytree(
            CHANGES / "donation" / variant,
            dumps / f"2027-01-{day:02}",
            dirs_exist_ok=True,
        )
        nightly(tmp_path, commands, command)
        if day in (3, 4):  # reported on again, it is noted once
            nightly(tmp_path, commands, command)
        heard.append(len(posted.read_text().split()) if posted.exists() else 0)
    assert heard == [0, 0, 1, 2, 2]
    assert set(posted.read_text().split()) == {"https://hooks.example/T0"}


@pytest.mark.slow
def test_nights_that_went_wrong(
    tmp_path: Path, dumps: Path, commands: dict[str, str]
) -> None:
    """A night without a dump, one with a broken dump: those that follow get in."""
    (tmp_path / "hlodb.toml").write_text('[floors]\nbytes = "1 KiB"\n')
    (dumps / "2027-01-02").mkdir()
    (dumps / "latest").symlink_to(dumps / "2027-01-02")
    shutil.copytree(CHANGES / "donation" / "dropped", dumps / "2027-01-04")
    command = str(EXAMPLES / "nightly.sh")
    code, line = nightly(tmp_path, commands, command)
    assert (code, line.partition(":")[0]) == (2, "❌ 1 regression (2 gates failed)")
    broken = dumps / "2027-01-03" / "module_0000.jit_f.cpu_after_optimizations.txt"
    broken.parent.mkdir()
    broken.write_text("HloModule")
    assert nightly(tmp_path, commands, command)[0] == 3
    taken_in = (tmp_path / "reports" / "ingest.jsonl").read_text().splitlines()
    assert [json.loads(line)["run"] for line in taken_in] == [
        *("2027-01-01", "2027-01-04"),
        "2027-01-03",
    ]


@pytest.mark.slow
def test_nights_that_were_forgotten_stay_so(
    tmp_path: Path, dumps: Path, commands: dict[str, str]
) -> None:
    shutil.copytree(CHANGES / "donation" / "base", dumps / "2027-01-02")
    shutil.copytree(CHANGES / "donation" / "base", dumps / "2027-01-03")
    command = str(EXAMPLES / "nightly.sh")
    assert nightly(tmp_path, commands, command)[0] == 0
    forgetting = "hlodb rm 2027-01-01 && hlodb prune --keep 1"
    assert nightly(tmp_path, commands, forgetting)[0] == 0
    assert nightly(tmp_path, commands, command) == (0, "✅ no regression; 1 same")
    with connect(tmp_path / "hlodb.duckdb") as connection:
        found = connection.execute(
            "SELECT name, pruned_at IS NOT NULL FROM runs ORDER BY name"
        ).fetchall()
    assert found == [("2027-01-02", True), ("2027-01-03", False)]


@pytest.mark.slow
def test_the_cron_line(tmp_path: Path, dumps: Path, commands: dict[str, str]) -> None:
    assert dumps.is_dir()
    lines = (EXAMPLES / "hlodb.cron").read_text().splitlines()
    (line,) = [one for one in lines if one[:1].isdigit()]
    *times, command = line.split(maxsplit=5)
    assert times == ["17", "3", "*", "*", "*"]
    here = command.replace("/var/lib/hlodb", str(tmp_path))
    here = here.replace("/usr/share/hlodb", str(EXAMPLES))
    code, headline = nightly(tmp_path, commands, here)
    assert (code, headline[:1]) == (0, "⚪")


PLUGIN_TEST = """
import pytest

def test_peak(hlodb_peak):
    hlodb_peak("jit_update").assert_within("256 KiB")

def test_a_dump_of_its_own(hlodb_peak):
    assert hlodb_peak("jit_step", dump={dump!r}).reserved_bytes == 82251

def test_too_much(hlodb_peak):
    hlodb_peak("jit_update", run="dropped", space="host").assert_within("200 KiB")

def test_unknown(hlodb_peak):
    hlodb_peak("jit_updat")
"""


@pytest.mark.slow
def test_the_plugin_in_a_real_run(tmp_path: Path, commands: dict[str, str]) -> None:
    for variant in ("base", "dropped"):
        ingest = [
            *(sys.executable, "-m", "hlodb", "ingest", "--db", "h.duckdb"),
            *("--run", variant, str(CHANGES / "donation" / variant)),
        ]
        subprocess.run(ingest, cwd=tmp_path, env=commands, check=True)
    dump = str(CHANGES / "tensor" / "base")
    (tmp_path / "test_memory.py").write_text(PLUGIN_TEST.format(dump=dump))
    (tmp_path / "pytest.ini").write_text("[pytest]\nhlodb_db = h.duckdb\n")
    options = ("-q", "-p", "hlodb.integrations.pytest_plugin", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=tmp_path,
        # An installed hlodb brings the plugin along; loaded twice it complains.
        env={**commands, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1].startswith("2 failed, 2 passed"), done.stdout
    database = tmp_path / "h.duckdb"
    marked = [line[1:].strip() for line in done.stdout.splitlines() if line[:1] == "E"]
    start = next(n for n, line in enumerate(marked) if line.startswith("Assertion"))
    assert marked[start : start + 5] == [
        "AssertionError: jit_update reserves 224.02 KiB of host,"
        " 24.02 KiB more than 200.00 KiB",
        "64.00 KiB parameter subtract_tanh_fusion.1 (make_changes.py:55)",
        "64.00 KiB parameter g.1",
        "32.00 KiB live_out subtract_tanh_fusion (make_changes.py:55)",
        f"see `hlodb --db {database} query peak_contents -p run=dropped"
        " -p program=jit_update -p color=0`",
    ]
    assert "did you mean jit_update?" in done.stdout
