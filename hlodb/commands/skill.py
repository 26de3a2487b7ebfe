"""`hlodb skill`: instructions for assistants that can use the command line."""

from __future__ import annotations

from pathlib import Path

import click

from hlodb.errors import UsageError
from hlodb.terminal.narration import narrate

_SKILL = Path(__file__).parents[1] / "skill"
_FOLDER = Path("~/.agents/skills")


@click.group("skill")
def command() -> None:
    """Install instructions that teach an assistant to use hlodb.

    \b
    hlodb skill install
    hlodb skill install .claude/skills
    hlodb skill show
    """


@command.command("install")
@click.argument(
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=_FOLDER,
)
def install(folder: Path) -> None:
    """Copy the skill to FOLDER/hlodb  [default: ~/.agents/skills].

    Files of an earlier version are replaced, others stay.
    """
    target = folder.expanduser() / "hlodb"
    try:
        for file in skill_files():
            place = target / file.relative_to(_SKILL)
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.is_symlink():
                raise UsageError(f"{place} is a link: remove it first")
            place.write_bytes(file.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot write to {target}: {error.strerror}") from error
    narrate(f"the skill is in {target}")


@command.command("show")
def show() -> None:
    """Print the skill."""
    click.echo((_SKILL / "SKILL.md").read_text(encoding="utf-8"), nl=False)


def skill_files() -> list[Path]:
    """Return the files of the skill."""
    return sorted(_SKILL.rglob("*.md"))
