"""SARIF's own schema, and the validator that its authors wrote, as judges of ours.

`make oracle` installs the validator, which brings the schema along; without it these
tests are skipped. The validator also knows the specification's rules beyond the schema
(addresses, indices, fingerprints), and what GitHub's code scanning demands.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hlodb.reports.render import renderer
from tests.conftest import REPOSITORY
from tests.oracle.schema_part import excess
from tests.reports.situations import SITUATIONS, report_on

pytestmark = pytest.mark.oracle

INSTALLED = REPOSITORY / ".venv" / "sarif" / "node_modules" / "@microsoft"
USED_PART = REPOSITORY / "tests" / "reports" / "sarif-2.1.0-used.schema.json"

NOT_HEEDED = {"SARIF2005": "asks for the tool's home page, and there is none yet"}


@pytest.fixture(scope="module")
def multitool() -> Path:
    """Give the folder of SARIF Multitool for this machine."""
    for program in INSTALLED.glob("sarif-multitool-*/Sarif.Multitool"):
        return program.parent
    pytest.skip("SARIF Multitool is not installed: `make oracle` installs it with npm")


@pytest.fixture(scope="module")
def official(multitool: Path) -> Any:
    return json.loads((multitool / "sarif-2.1.0.json").read_text())


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give the log of every situation by its name."""
    folder = tmp_path_factory.mktemp("sarif")
    paths = {name: folder / f"{name}.sarif" for name in SITUATIONS}
    for name, path in paths.items():
        path.write_text(renderer("sarif")(report_on(name, folder)))
    return paths


def test_every_log_holds_to_the_schema(official: Any, logs: dict[str, Path]) -> None:
    kind = jsonschema.validators.validator_for(official)
    kind.check_schema(official)
    validator = kind(official)
    for path in logs.values():
        validator.validate(json.loads(path.read_text()))


def test_the_part_that_other_tests_use_is_a_part_of_it(official: Any) -> None:
    assert excess(json.loads(USED_PART.read_text()), official) == []


def test_every_log_holds_to_the_rules(multitool: Path, logs: dict[str, Path]) -> None:
    assert broken_rules(multitool, logs.values()) == set()


def test_the_validator_sees_what_is_wrong(multitool: Path, tmp_path: Path) -> None:
    log = json.loads(renderer("sarif")(report_on("one_regression", tmp_path)))
    result = log["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    result |= {"rank": 101, "ruleIndex": 7}
    place["uri"] = "a b"
    path = tmp_path / "spoiled.sarif"
    path.write_text(json.dumps(log))
    assert broken_rules(multitool, [path]) == {
        ("spoiled", "JSON1006"),
        ("spoiled", "SARIF1002"),
        ("spoiled", "SARIF1009"),
    }


def broken_rules(multitool: Path, logs: Iterable[Path]) -> set[tuple[str, str]]:
    """Give the name of every log that breaks a rule, with that rule's id.

    The validator returns 0 also where it finds errors: what counts is what it writes.
    """
    paths = list(logs)
    found = paths[0].parent / "found.json"
    command = [str(multitool / "Sarif.Multitool"), "validate", *map(str, paths)]
    command += ["--rule-kind", "Sarif;Ghas", "--output", str(found)]
    # .NET looks for ICU otherwise, which small images do not have.
    environment = os.environ | {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Done. {len(paths)} files scanned." in done.stdout
    (run,) = json.loads(found.read_text(encoding="utf-8-sig"))["runs"]
    return {
        (_log_of(result), result["ruleId"])
        for result in run["results"]
        if result["ruleId"] not in NOT_HEEDED
    }


def _log_of(result: dict[str, Any]) -> str:
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    return Path(place["uri"]).stem
