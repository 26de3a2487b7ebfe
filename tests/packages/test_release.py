"""A release is built the same twice, and described before it is tagged."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hlodb.version import __version__
from tests.conftest import REPOSITORY
from tests.examples.test_schedules import run_steps

WORKFLOW = REPOSITORY / ".github" / "workflows" / "release.yml"


def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(REPOSITORY / ".ci" / name))


def archive(path: Path, names: list[str], time: int) -> None:
    with tarfile.open(path, "w:gz") as file:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uname = 3, time, f"user{time}"
            member.mode = 0o775 if name.endswith("run") else 0o600
            file.addfile(member, io.BytesIO(b"abc"))


def test_archives_of_equal_files_are_equal(tmp_path: Path) -> None:
    archive(tmp_path / "one.tar.gz", ["a", "b/run"], 1_700_000_001)
    archive(tmp_path / "two.tar.gz", ["b/run", "a"], 1_800_000_002)
    repack = script("build.py")["repack"]
    for name in ("one", "two"):
        repack(tmp_path / f"{name}.tar.gz", tmp_path / name, 1_600_000_000)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with tarfile.open(tmp_path / "one") as file:
        assert [(m.name, m.mode, m.mtime, m.uname) for m in file] == [
            ("a", 0o644, 1_600_000_000, ""),
            ("b/run", 0o755, 1_600_000_000, ""),
        ]
    assert gzip.decompress((tmp_path / "one").read_bytes())


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout whose release 1.2.3 is ready."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "hlodb").mkdir()
    text = (REPOSITORY / ".ci" / "release_notes.py").read_text()
    (tmp_path / ".ci" / "release_notes.py").write_text(text)
    (tmp_path / "hlodb" / "version.py").write_text('__version__ = "1.2.3"\n')
    server = {"version": "1.2.3", "packages": [{"version": "1.2.3"}]}
    (tmp_path / "server.json").write_text(json.dumps(server))
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 1.2.3 - 2027-01-31\n\n- New.\n\n## 1.2.2 - 2026-12-31\n"
    )
    return tmp_path


def checked(checkout: Path, tag: str) -> subprocess.CompletedProcess[str]:
    """Run the workflow's step that checks a tag."""
    return subprocess.run(
        ["bash", "-e", "-c", run_steps(WORKFLOW.read_text())[CHECK]],
        cwd=checkout,
        env={
            **os.environ,
            "GITHUB_REF_NAME": tag,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
    )


CHECK = "Check the version and the changelog"


def test_the_entry_of_a_release_is_its_announcement(checkout: Path) -> None:
    assert checked(checkout, "v1.2.3").returncode == 0
    assert (checkout / "notes.md").read_text() == "- New.\n"


def test_a_tag_of_another_version_is_refused(checkout: Path) -> None:
    done = checked(checkout, "v1.2.4")
    assert (done.returncode, done.stderr.count(": 1.2.3\n")) == (1, 4)


def test_a_release_without_an_entry_is_refused(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n")
    done = checked(checkout, "v1.2.3")
    assert done.returncode == 1
    assert done.stderr.endswith("`## X.Y.Z - YYYY-MM-DD`: Unreleased\n")


def test_the_changelog_has_its_form() -> None:
    """Releases from the newest on, what is new of each below headings as lines."""
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    released = headings[1:] if headings[0] == "Unreleased" else headings
    release = script("release_notes.py")["RELEASE"]
    assert [heading for heading in released if not release.fullmatch(heading)] == []
    assert released == sorted(released, key=_version, reverse=True)
    lines = [line for line in text.split("\n## ", 1)[1].splitlines()[1:] if line]
    assert all(re.match(r"- |#+ |[A-Z]", line) for line in lines)


def _version(heading: str) -> list[int]:
    return [int(part) for part in heading.split(" ")[0].split(".")]


def test_versions_agree() -> None:
    version = runpy.run_path(str(REPOSITORY / "hlodb" / "version.py"))["__version__"]
    server = json.loads((REPOSITORY / "server.json").read_text(encoding="utf-8"))
    assert {server["version"], server["packages"][0]["version"]} == {version}


def test_conda_asks_for_what_the_package_asks_for() -> None:
    recipe = (REPOSITORY / ".ci" / "recipe.yaml").read_text()
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    _, host_and_run, _ = re.split(r"^(?:requirements|tests):$", recipe, flags=re.M)
    _, run = host_and_run.split("  run:\n")
    # conda-forge has DuckDB for Python under a name of its own.
    asked = {line.replace(" ", "") for line in run.strip().split("\n    - ")}
    asked = {
        line.removeprefix("-").replace("python-duckdb", "duckdb") for line in asked
    }
    python = "python>=${{python_min}}"
    assert asked == {
        python,
        *(line.replace(" ", "") for line in project["dependencies"]),
    }
    assert f'python_min: "{project["requires-python"].removeprefix(">=")}"' in recipe
    assert f'version: "{__version__}"' in recipe
    assert project["description"] in recipe
    [command] = project["scripts"].items()
    assert " = ".join(command) in recipe


def test_the_image_has_what_the_package_is_made_of() -> None:
    lines = (REPOSITORY / ".ci" / "Containerfile").read_text().splitlines()
    [install] = [line for line in lines if line.startswith("RUN ")]
    named = re.findall(r"/src(/\S+)?", install)
    assert [REPOSITORY / name[1:] for name in named if name] == [
        REPOSITORY / "constraints.txt"
    ]
    assert 'ENTRYPOINT ["hlodb"]' in lines
