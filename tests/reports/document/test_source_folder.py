"""How source files are named below the folder that all of them are in."""

from __future__ import annotations

import pytest

from hlodb.reports.document.source_folder import in_folder
from tests.reports.document.made import overview_of

LIBRARY = "/opt/env/lib/python3.12/site-packages/flax/linen/linear.py"


@pytest.mark.parametrize(
    ("files", "short", "folder"),
    [
        (["/a/lm/model.py", "/a/lm/train.py"], ["model.py", "train.py"], "/a/lm"),
        (["/a/lm/model.py", "/a/run.py"], ["lm/model.py", "run.py"], "/a"),
        (["/a/lm/model.py", LIBRARY, None], ["model.py", LIBRARY, None], "/a/lm"),
        (["/a/model.py", "/b/train.py"], ["/a/model.py", "/b/train.py"], None),
        (["lm/model.py", LIBRARY], ["lm/model.py", LIBRARY], None),
    ],
)
def test_files_are_named_below_their_folder(
    files: list[str | None], short: list[str | None], folder: str | None
) -> None:
    rows = [{"source_file": file, "bytes": 1} for file in files]
    near, found = in_folder(overview_of(4, peak_contents=rows))
    assert found == folder
    assert [row["source_file"] for row in near.answers["peak_contents"]] == short
    assert near.answers["headroom"] == overview_of(4).answers["headroom"]
