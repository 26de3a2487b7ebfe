"""A page with pictures, as a notebook shows it inline."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

_HEIGHT = 700


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """An explanation, a report or a figure: `html` is the page, `text` its words."""

    html: str
    text: str

    def save(self, path: str | Path) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __str__(self) -> str:
        """Return the words."""
        return self.text

    def __repr__(self) -> str:
        """Return the words, for a shell."""
        return self.text

    def _repr_html_(self) -> str:
        """Return a frame with the page, whose style stays inside."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts"'
            f' style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )
