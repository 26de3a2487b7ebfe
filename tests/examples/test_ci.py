"""The example repository's pipelines, from the first step to the comment's text."""

from __future__ import annotations

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
from tests.examples.steps import NODE, Job, inputs_of, steps_of

EXAMPLE = REPOSITORY / "examples" / "ci"
WORKFLOW = (EXAMPLE / ".github" / "workflows" / "memory.yml").read_text()
ACTION = (REPOSITORY / "action.yml").read_text()
GITLAB = (REPOSITORY / "examples" / "gitlab.yml").read_text()
MARKER = "<!-- hlodb-report: main -->"
HEADLINE = (
    r"❌ 1 regression (2 gates failed): jit\_train\_step CPU memory +1.50 MiB"
    r" (+18.7 %), cause: weights\[0\] and 3 more arguments no longer donated"
)


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/usr/bin/env bash\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment whose Python copies a dump that JAX made of train.py."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    script(binaries / "hlodb", f'exec {sys.executable} -m hlodb "$@"')
    script(binaries / "pip", f'echo "$@" >> {tmp_path}/installed')
    script(
        binaries / "python",
        f"""case "$1" in
        train.py) cp -r "$STORED" "${{XLA_FLAGS#--xla_dump_to=}}" ;;
        -c) exec {sys.executable} "$@" ;;
        *) mkdir -p "$3/bin"; cp {binaries}/pip "$3/bin/pip" ;;
        esac""",
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HLODB", "CI_"))}
    return {
        **kept,
        "PATH": f"{binaries}{os.pathsep}{kept['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
    }


def test_the_workflow_is_ten_lines() -> None:
    lines = [line for line in WORKFLOW.splitlines() if line and line[0] != "#"]
    assert len(lines) <= 13
    assert [step.value("uses") for step in steps_of(WORKFLOW)] == [
        *("actions/checkout@v5", None, "you/hlodb@main"),
    ]


def github_job(
    folder: Path, environment: dict[str, str], dump: str, event: dict[str, str]
) -> Job:
    """Run the workflow and the action that it uses on an event."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    shutil.rmtree(work / "dump", ignore_errors=True)
    [path] = re.findall(r"with: \{path: (\w+)\}", WORKFLOW)
    contexts = {
        **inputs_of(ACTION, {"path": path}),
        "github.action_path": str(REPOSITORY),
        "github.run_attempt": "1",
        "github.token": "token",
        **{f"github.{name}": value for name, value in event.items()},
    }
    variables = {
        **environment,
        "STORED": str(DATA / "ci" / dump),
        "RUNNER_TEMP": str(folder),
        "GITHUB_PATH": str(folder / "path"),
        "GITHUB_SHA": event["sha"],
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    job = Job(work, variables, contexts)
    job.run(WORKFLOW)
    return job


PUSH = {
    "event_name": "push",
    "run_id": "1",
    "sha": "aaa",
    "ref_name": "trunk",
    "head_ref": "",
    "event.repository.default_branch": "trunk",
}
PULL = {
    "event_name": "pull_request",
    "run_id": "2",
    "sha": "ccc",
    "head_ref": "topic",
    "event.pull_request.base.sha": "aaa",
}


@pytest.mark.slow
def test_a_pull_request_gets_its_comment(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    pushed = github_job(tmp_path, environment, "before", PUSH)
    pushed.run(ACTION)
    names = ("Compile and dump", "Install", "Ingest", "Report", "Gate")
    assert pushed.codes == dict.fromkeys(names, 0)
    assert pushed.asked == []
    pulled = github_job(tmp_path, environment, "after", PULL)
    pulled.run(ACTION)
    # The default branch is main to hlodb, whatever its name.
    with connect(tmp_path / "work" / "hlodb.duckdb") as connection:
        branches = "SELECT name, labels ->> 'branch' FROM runs ORDER BY name"
        assert connection.execute(branches).fetchall() == [
            *(("1", "main"), ("2", "topic")),
        ]
    assert pulled.codes == {**dict.fromkeys(names, 0), "Gate": 1}
    summary = (tmp_path / "summary.md").read_text()
    assert HEADLINE in summary
    comment = (tmp_path / "work" / "comment.md").read_text()
    assert comment.startswith(f"{MARKER}\n")
    assert HEADLINE in comment
    assert "hlodb query peak_contents -p run=2 -p program=jit_train_step" in comment
    if NODE is None:
        pytest.skip("node is not there: the comment was not posted")
    where = {"owner": "me", "repo": "example"}
    assert pulled.asked == [["create", {**where, "issue_number": 7, "body": comment}]]
    again = github_job(tmp_path, environment, "after", {**PULL, "run_id": "3"})
    again.comments = [{"id": 4, "body": "Nice."}, {"id": 5, "body": f"{MARKER}\nold"}]
    again.run(ACTION)
    text = (tmp_path / "work" / "comment.md").read_text()
    assert again.asked == [["update", {**where, "comment_id": 5, "body": text}]]


def used(tmp_path: Path, **given: str) -> list[str]:
    """Return the actions that action.yml uses, with their versions left out."""
    job = Job(
        tmp_path,
        {**os.environ, "PATH": ""},
        {**inputs_of(ACTION, {"path": "dump", **given}), "github.event_name": "push"},
    )
    job.shell = lambda text, environment: 0  # type: ignore[method-assign]
    job.run(ACTION)
    return [action.partition("@")[0] for action in job.used]


@pytest.mark.parametrize(
    ("given", "is_cached"),
    [
        ({}, True),
        ({"cache": "false"}, False),
        ({"warehouse": "s3://bucket/runs.lake"}, False),
    ],
)
def test_the_cache_keeps_only_a_file(
    given: dict[str, str], is_cached: bool, tmp_path: Path
) -> None:
    found = used(tmp_path, **given)
    assert [a for a in found if a.startswith("actions/cache")] == (
        ["actions/cache/restore", "actions/cache/save"] if is_cached else []
    )
    assert "actions/upload-artifact" in found


@pytest.mark.slow
def test_inputs_choose_gates_and_the_clients_of_buckets(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "gates.toml").write_text('[floors]\nbytes = "1 GiB"\n')
    for dump, event in (("before", PUSH), ("after", PULL)):
        job = github_job(tmp_path, environment, dump, event)
        given = {"path": "dump", "config": "gates.toml", "fail-on": "budget"}
        job.contexts = {**job.contexts, **inputs_of(ACTION, given)}
        job.run(ACTION)
        assert job.codes["Gate"] == 0
    report = json.loads((tmp_path / "work" / "hlodb.json").read_text())
    assert report["headline"] == "✅ no regression; 1 same"
    install = next(step for step in steps_of(ACTION) if step.name == "Install")
    bucket = {**job.contexts, "inputs.warehouse": "s3://bucket/runs.lake"}
    Job(tmp_path, job.environment, bucket).shell(
        install.value("run") or "", install.environment()
    )
    asked = (tmp_path / "installed").read_text().splitlines()
    assert asked[-1] == f"install --quiet {REPOSITORY}[remote]"
    assert asked[-2] == f"install --quiet {REPOSITORY}"


def gitlab_script() -> list[str]:
    """Return the commands of the template."""
    block = GITLAB.partition("  script:\n")[2].partition("\n  artifacts:")[0]
    items = re.split(r"^    - ", f"{block}\n", flags=re.MULTILINE)[1:]
    cut = (re.sub(r"\n +#.*", "", item) for item in items)
    return [textwrap.dedent(item.removeprefix("|\n")).strip() for item in cut]


def test_the_example_sets_what_the_template_installs() -> None:
    """In the job: GitLab lets a job's own variables win over those of the file."""
    text = (EXAMPLE / ".gitlab-ci.yml").read_text()
    job = text.partition("\nmemory:\n")[2]
    assert re.findall(r"^    (\w+): ", job.partition("  variables:\n")[2], re.M) == [
        *("DUMPS", "HLODB"),
    ]
    template = GITLAB.partition("  variables:\n")[2].partition("\n  #")[0]
    defaults = re.findall(r"^    (\w+): ", template, re.M)
    assert defaults == ["HLODB", "HLODB_DB", "DUMPS", "SERIES"]


@pytest.mark.slow
def test_a_merge_request_gets_its_note(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    [before] = re.findall(
        r"before_script:\n +- (.*)", (EXAMPLE / ".gitlab-ci.yml").read_text()
    )
    script(
        tmp_path / "bin" / "curl",
        f"""printf '%s\\n' "$*" >> {tmp_path}/sent
        case "$*" in *per_page*) cat {tmp_path}/notes.json ;; esac""",
    )
    (tmp_path / "notes.json").write_text(json.dumps([{"id": 3, "body": "Nice."}]))
    work = tmp_path / "work"
    work.mkdir()

    def pipeline(number: int, dump: str, **variables: str) -> list[int]:
        shutil.rmtree(work / "dump", ignore_errors=True)
        common = {
            **environment,
            "HLODB": "hlodb",
            "HLODB_DB": "hlodb.duckdb",
            "DUMPS": "dump",
            "SERIES": "main",
            "CI_PIPELINE_ID": str(number),
            "CI_API_V4_URL": "https://gitlab.example/api/v4",
            "CI_PROJECT_ID": "9",
            "STORED": str(DATA / "ci" / dump),
        }
        return [
            subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", command],
                cwd=work,
                env={**common, **variables},
                capture_output=True,
            ).returncode
            for command in [before, *gitlab_script()]
        ]

    request = {
        "CI_COMMIT_SHA": "ccc",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "aaa",
        "HLODB_TOKEN": "secret",
    }
    assert pipeline(1, "before", CI_COMMIT_SHA="aaa") == [0] * 6
    assert not (tmp_path / "sent").exists()
    assert pipeline(2, "after", **request) == [0] * 5 + [1]
    comment = (work / "comment.md").read_text()
    assert comment.startswith(f"{MARKER}\n")
    assert HEADLINE in comment
    notes = "https://gitlab.example/api/v4/projects/9/merge_requests/7/notes"
    with_token = "--fail --silent --show-error --header PRIVATE-TOKEN: secret"
    listed = f"{with_token} {notes}?per_page=100"
    body = "--data-urlencode body@comment.md"
    assert (tmp_path / "sent").read_text().splitlines() == [
        listed,
        f"{with_token} --request POST {body} {notes}",
    ]
    (tmp_path / "notes.json").write_text(
        json.dumps([{"id": 3, "body": "Nice."}, {"id": 4, "body": comment}])
    )
    assert pipeline(3, "after", **request)[:5] == [0] * 5
    assert (tmp_path / "sent").read_text().splitlines()[2:] == [
        listed,
        f"{with_token} --request PUT {body} {notes}/4",
    ]
