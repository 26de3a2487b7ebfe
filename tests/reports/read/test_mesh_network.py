"""What reports say of a network over a mesh, whose layers were recomputed."""

from __future__ import annotations

from pathlib import Path

from hlodb.reports.read.causes import explaining
from tests.queries.shared.test_compiled_edits import ingested
from tests.reports.read.test_changed_inputs import report_on


def test_a_lost_checkpoint_is_named_where_its_body_moved(tmp_path: Path) -> None:
    """Functions that only one side has compute there what the layer did."""
    path = ingested("mesh_network", tmp_path, "lost")
    (finding,) = report_on(path, "base", "lost").findings
    assert [claim.claim for claim in explaining(finding.claims)] == [
        "sim.py:61 forward.<locals>.<lambda>: remat removed (82 operations were"
        " recomputed)"
    ]
