"""SARIF, JUnit XML and Conbench's results as those judge them who read them.

`make oracle` installs the judges; without them these tests are skipped. SARIF's is the
validator that its authors wrote, which brings the schema along; it also knows the
specification's rules beyond the schema (addresses, indices, fingerprints), and what
GitHub's code scanning demands. JUnit XML never had a standard: its judge is the schema
of Jenkins, junit-10.xsd, as pytest keeps it among its tests.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from hlodb.reports.judge.report import Report
from hlodb.reports.render.forms import renderer
from tests.conftest import REPOSITORY
from tests.oracle.schema_part import excess
from tests.reports.situations import SITUATIONS

pytestmark = pytest.mark.oracle

INSTALLED = REPOSITORY / ".venv"
USED_PART = Path(__file__).parent / "sarif-2.1.0-used.schema.json"

NOT_HEEDED = {"SARIF2005": "asks for the tool's home page, and there is none yet"}

Reported = Callable[[str], Report]


# --- SARIF --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def multitool() -> Path:
    """Return the folder of SARIF Multitool for this machine."""
    packages = INSTALLED / "sarif" / "node_modules" / "@microsoft"
    for program in packages.glob("sarif-multitool-*/Sarif.Multitool"):
        return program.parent
    pytest.skip("SARIF Multitool is not installed: `make oracle` installs it with npm")


@pytest.fixture(scope="module")
def official(multitool: Path) -> Any:
    return json.loads((multitool / "sarif-2.1.0.json").read_text())


@pytest.fixture(scope="module")
def logs(
    reported: Reported, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Return the log of every situation by its name."""
    folder = tmp_path_factory.mktemp("sarif")
    paths = {name: folder / f"{name}.sarif" for name in SITUATIONS}
    for name, path in paths.items():
        path.write_text(renderer("sarif")(reported(name)))
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


def test_the_validator_sees_what_is_wrong(
    multitool: Path, reported: Reported, tmp_path: Path
) -> None:
    log = json.loads(renderer("sarif")(reported("one_regression")))
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
    """Return the name of every log that breaks a rule, with that rule's id.

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


# --- JUnit XML ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def junit() -> Any:
    path = INSTALLED / "junit-10.xsd"
    if not path.exists():
        pytest.skip("junit-10.xsd is not there: `make oracle` fetches it")
    return pytest.importorskip("xmlschema").XMLSchema(path)


@pytest.mark.parametrize("name", SITUATIONS)
def test_suites_hold_to_the_schema(junit: Any, reported: Reported, name: str) -> None:
    suites = ET.fromstring(renderer("junit")(reported(name)))
    # Properties of cases are younger than the schema.
    for case in suites.iter("testcase"):
        for properties in case.findall("properties"):
            case.remove(properties)
    junit.validate(suites)


def test_properties_are_all_that_the_schema_refuses(
    junit: Any, reported: Reported
) -> None:
    suites = ET.fromstring(renderer("junit")(reported("mixed")))
    refused = [error.reason for error in junit.iter_errors(suites)]
    assert set(refused) == {"Unexpected child with tag 'properties' at position 1."}
    assert len(refused) == len(suites.findall("testsuite/testcase/properties"))
