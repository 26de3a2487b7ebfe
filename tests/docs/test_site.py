"""The site of the documentation: its links are followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site import ROOT, broken_links, linked_files, main, page_names


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "guides").mkdir()
    (tmp_path / "guides" / "index.html").write_text(
        '<h1 id="top">G</h1><a class="x" href="..">up</a><a href="#top">top</a>'
        '<a href="#none">none</a><a href="https://duckdb.org">out</a>'
    )
    (tmp_path / "index.html").write_text(
        '<a href="guides/">g</a><a href="guides/#top">t</a><a href="guides/#no">n</a>'
        '<img alt="" src="a%20picture.svg"><script src=missing.js></script>'
    )
    (tmp_path / "a picture.svg").write_text("")
    assert sorted(broken_links(tmp_path)) == [
        "guides/index.html: #none",
        "index.html: guides/#no",
        "index.html: missing.js",
    ]


def test_files_come_along_that_pages_link_to() -> None:
    assert {"README.md", "docs/concepts.md"} <= set(page_names())
    found = list(linked_files("docs/guides/nightly.md"))
    assert {"action.yml", "examples/ci", "examples/nightly.sh"} <= set(found)
    assert all((ROOT / name).exists() for name in found)


@pytest.mark.slow
def test_the_site_is_whole(tmp_path: Path) -> None:
    pytest.importorskip("zensical", reason="make site-docs installs zensical")
    main(tmp_path / "made")
    site = tmp_path / "made" / "site"
    assert (site / "docs" / "guides" / "nightly" / "index.html").exists()
    assert "fragmentation" in (site / "search.json").read_text(encoding="utf-8")
