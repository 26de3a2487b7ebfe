"""The map of the code shows every room, and every room is packaged and small."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The links in hlodb/ make the folders at the root its sub-packages.
LINKED = {path.name for path in (ROOT / "hlodb").iterdir() if path.is_symlink()}
PACKAGES = ("hlodb", *sorted(LINKED))
PAGE = (ROOT / "docs" / "developers" / "architecture.md").read_text(encoding="utf-8")
STEPS = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
OF_STEPS = {path.with_suffix("") for path in ROOT.glob("queries/sql/**/*.sql")}
MOST_MODULES = 27


def rooms() -> Iterator[Path]:
    """Yield the folders below the packages that hold code: Python or SQL.

    Folders of the steps of a query are part of the query.
    """
    for package in PACKAGES:
        for folder in [ROOT / package, *sorted((ROOT / package).rglob("*"))]:
            is_link = any(part.is_symlink() for part in (folder, *folder.parents))
            if not OF_STEPS.isdisjoint((folder, *folder.parents)):
                continue
            if folder.is_dir() and not is_link and list(code_in(folder)):
                yield folder.relative_to(ROOT)


def code_in(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.suffix in (".py", ".sql"):
            yield path


ROOMS = {f"{room.as_posix()}/" for room in rooms()}


def test_the_page_names_every_room() -> None:
    named = set(re.findall(r"`([a-z_]+/(?:[a-z_0-9]+/)*)`", PAGE))
    assert {room for room in ROOMS if room not in named} == set()


@pytest.mark.parametrize("page", [PAGE, STEPS], ids=["rooms", "steps"])
def test_what_the_pages_name_is_there(page: str) -> None:
    """Paths are from the root, or from ingest/ where its steps are described."""
    paths = re.findall(r"`((?:[a-z_0-9]+/)+(?:\w+\.(?:py|sql))?)`", page)
    homes = (ROOT, ROOT / "ingest")
    missing = [
        path
        for path in paths
        if "NAME" not in path and not any((home / path).exists() for home in homes)
    ]
    assert missing == []


def test_tools_know_the_packages_at_the_root() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    imports = tools["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    layers = tools["importlinter"]["contracts"][0]["layers"]
    layered = {name for layer in layers for name in layer.split(" | ")}
    assert set(tools["coverage"]["run"]["source"]) == {"hlodb", *LINKED}
    assert set(imports) == LINKED
    assert {f"hlodb.{name}" for name in LINKED} - layered == set()


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_holds_no_more_than_one_can_overlook(room: str) -> None:
    modules = [path for path in (ROOT / room).glob("*.py") if path.stem != "__init__"]
    assert len(modules) <= MOST_MODULES
