"""What remedies promise, against programs that were compiled with the remedy."""

from __future__ import annotations

import pytest

from bench.remedies import CLOSE, Edit, Effect, edits, effects

EDITS = edits()
QUICK = ["remedies/decode"]


def _require_kept(effect: Effect) -> None:
    """Fail where a promise is off without a reason, or is made again afterwards."""
    assert effect.promised_bytes > 0
    assert effect.measured_bytes > 0
    assert abs(effect.error_ratio) <= CLOSE or effect.edit.why, effect
    assert effect.left_bytes < effect.promised_bytes


@pytest.mark.slow
@pytest.mark.parametrize("archive", QUICK)
def test_promises_are_kept(archive: str) -> None:
    chosen = [edit for edit in EDITS if edit.archive == archive]
    assert chosen
    for effect in effects(chosen):
        _require_kept(effect)


@pytest.mark.slow
def test_every_promise_is_kept() -> None:
    found = list(effects([edit for edit in EDITS if edit.archive not in QUICK]))
    for effect in found:
        _require_kept(effect)
    assert len([e for e in found if abs(e.error_ratio) <= CLOSE]) >= 15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("archive", "program", "rules"),
    [
        (
            "remedies/train",
            "base",
            {"donate", "drop_output", "drop_constant", "clip_apart"},
        ),
        ("remedies/clipped", "apart", {"clip_apart"}),
        ("remedies/train", "remat", {"checkpoint_loop", "drop_output"}),
        ("remedies/train", "half_moment", {"halve_moment"}),
        (
            "remedies/decode",
            "base",
            {"donate", "halve_activation", "halve_softmax", "recompute"},
        ),
        ("remedies/mesh", "base", {"shard", "donate", "halve_cache"}),
        ("remedies/narrow", "filled", {"fill_tile"}),
        ("remedies/masked", "inside", {"compute_mask"}),
        ("remedies/gathered", "later", {"gather_later"}),
        ("remedies/layered", "base", {"recompute", "checkpoint_loop"}),
        ("remedies/recurrent", "remat", {"recompute", "checkpoint_loop"}),
        ("remedies/gathered", "base", {"halve_batch"}),
        ("pairs/lm-cpu", "base", {"offload"}),
        ("remedies/train", "bf16", {"halve_element"}),
    ],
)
def test_what_cannot_help_is_not_listed(
    archive: str, program: str, rules: set[str]
) -> None:
    for rule in sorted(rules):
        edit = Edit(archive, program, program, rule, "none")
        (effect,) = effects([edit])
        assert (rule, effect.promised_bytes) == (rule, 0)
