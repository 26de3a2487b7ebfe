"""CODEOWNERS: the examples of GitHub's own page, and paths as dumps have them."""

from __future__ import annotations

import pytest

from hlodb.reports.config.codeowners import owner_of_file, parse_codeowners

TEXT = """
# the last pattern that fits decides
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
/build/logs/ @doctocat
docs/*  docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/github
\\#odd.py @odd
"""


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("setup.py", "@global-owner1 @global-owner2"),
        ("src/deep/main.js", "@js-owner"),
        ("scripts/run.sh", "@doctocat @octocat"),
        ("lib/scripts/run.sh", "@global-owner1 @global-owner2"),
        ("lib/apps/main.py", "@octocat"),
        ("apps/github/main.py", None),
        ("docs/build/trouble.md", "@doctocat"),
        ("build/logs/today/x.txt", "@octocat"),
        ("logs", "@octocat"),
        ("deep/logs/x.txt", "@octocat"),
        ("#odd.py", "@odd"),
    ],
)
def test_the_last_pattern_that_fits(path: str, owner: str | None) -> None:
    assert owner_of_file(path, parse_codeowners(TEXT)) == owner


def test_the_files_of_one_folder() -> None:
    rules = parse_codeowners("docs/* docs@example.com\n")
    assert owner_of_file("docs/start.md", rules) == "docs@example.com"
    assert owner_of_file("docs/build/start.md", rules) is None
    assert owner_of_file("lib/docs/start.md", rules) is None


@pytest.mark.parametrize("pattern", ["/models/gpt/", "models/**/attention.py", "gpt/"])
def test_a_repository_may_lie_anywhere_on_the_machine(pattern: str) -> None:
    rules = parse_codeowners(f"{pattern} @training\n")
    assert owner_of_file("/home/ci/repo/models/gpt/attention.py", rules) == "@training"
    assert owner_of_file("models/gpt/attention.py", rules) == "@training"
    assert owner_of_file("/home/ci/repo/models/bert.py", rules) is None


def test_a_relative_path_begins_at_the_root() -> None:
    rules = parse_codeowners("/gpt/ @training\n")
    assert owner_of_file("models/gpt/attention.py", rules) is None


@pytest.mark.parametrize(
    ("pattern", "path", "is_owned"),
    [
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/x/bb", False),
        ("a/**", "a/x/y", True),
        ("a/**", "a", False),
        ("**/a/*", "x/a/b", True),
        ("**/a/*", "x/a/b/c", False),
        ("*.p?", "x/y.py", True),
        ("a[b]", "a[b]", True),
        ("a[b]", "ab", False),
    ],
)
def test_stars_as_git_reads_them(pattern: str, path: str, is_owned: bool) -> None:
    rules = parse_codeowners(f"{pattern} @owner\n")
    assert owner_of_file(path, rules) == ("@owner" if is_owned else None)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 40 + "b", "a" * 400), ("**/a/" * 40 + "b", "a/" * 400)],
)
def test_many_stars_take_no_time(pattern: str, path: str) -> None:
    """A pattern that goes back for each star would not end."""
    assert owner_of_file(path, parse_codeowners(f"{pattern} @owner\n")) is None
