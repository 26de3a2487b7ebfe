"""Where runs wait that a locked warehouse kept out: `staging` says more."""

from __future__ import annotations

from pathlib import Path


def staging_folder(database: Path) -> Path:
    """Return the folder in which the packages of a warehouse lie."""
    return database.with_name(f"{database.name}.staged")


def is_anything_staged(database: Path) -> bool:
    """Return whether there may be packages: most warehouses have no such folder."""
    folder = staging_folder(database)
    return folder.is_dir() and any(folder.iterdir())
