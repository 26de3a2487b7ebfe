"""Which remedies `hlodb explain` shows, by how much of the memory is left."""

from __future__ import annotations

from typing import Any

import pytest

from hlodb.replay.remedies import _EDITS
from hlodb.reports.document.advice import (
    MEASURE,
    MEASURED,
    Advice,
    advice_blocks,
    advice_on,
    afterwards,
    estimated,
)
from hlodb.reports.document.blocks import Paragraph, Table

MIB = 1 << 20


def remedy(subject: str, *, is_last_resort: bool) -> dict[str, Any]:
    return {
        "rule_id": subject,
        "subject": subject,
        "saved_reserved_bytes": 3 * MIB,
        "saved_bytes": 2 * MIB,
        "most_saved_reserved_bytes": None,
        "most_saved_bytes": None,
        "source_file": None if is_last_resort else "train.py",
        "source_line": None if is_last_resort else 43,
        "advice": "Do it.",
        "cost": "none",
        "is_last_resort": is_last_resort,
    }


def space(reserved: int, usable: int | None, *, is_refused: bool = False) -> Any:
    return {
        "space_name": "host",
        "color": 0,
        "reserved_bytes": reserved * MIB,
        "usable_bytes": None if usable is None else usable * MIB,
        "is_refused": is_refused,
        "is_cut": False,
        "status": "oom" if is_refused else "ok" if usable else "unknown",
    }


LOGITS = remedy("logits", is_last_resort=False)
BATCH = remedy("activations", is_last_resort=True)
ROLES = [
    {"role": "weights", "owned_bytes": 5 * MIB, "copied_bytes": 0},
    {"role": "activations", "owned_bytes": 4 * MIB, "copied_bytes": 0},
    {"role": "optimiser_state", "owned_bytes": 7 * MIB, "copied_bytes": 0},
]


def test_little_of_a_rule_that_is_named_already_comes_last() -> None:
    """Five shapes that could be folded would hide that a batch can be halved."""
    folds = [
        {**LOGITS, "rule_id": "fill_tile", "saved_reserved_bytes": size * MIB}
        for size in (100, 30, 20)
    ]
    shown = advice_on(space(101, 100), [*folds, BATCH]).shown
    assert shown == [*folds[:2], BATCH, folds[2]]


@pytest.mark.parametrize(
    ("place", "advice"),
    [
        (space(30, 100), Advice([LOGITS], [BATCH])),
        (space(31, 100), Advice([], [LOGITS, BATCH])),
        (space(60, None), Advice([LOGITS], [BATCH])),
        (space(61, None), Advice([], [LOGITS, BATCH])),
        (space(24, 100), Advice([], [LOGITS, BATCH])),
        (space(80, 100), Advice([LOGITS, BATCH], [])),
        (space(101, 100, is_refused=True), Advice([LOGITS, BATCH], [])),
        (space(10, None, is_refused=True), Advice([LOGITS, BATCH], [])),
        ({**space(50, None), "has_failed": True}, Advice([LOGITS, BATCH], [])),
        ({**space(10, None), "has_failed": True}, Advice([LOGITS, BATCH], [])),
    ],
)
def test_last_resorts_are_for_memory_that_is_short(place: Any, advice: Advice) -> None:
    assert advice_on(place, [LOGITS, BATCH]) == advice


def test_what_saves_little_is_no_advice() -> None:
    (said,) = advice_blocks(space(50, 100), [LOGITS, BATCH], ROLES, 5)
    assert said == Paragraph(
        "The program fits, and nothing saves a tenth of what it reserves: 7.00 MiB are"
        " optimiser state, 5.00 MiB weights, 4.00 MiB activations. `hlodb query"
        " remedies` lists 2 remedies."
    )


def test_a_last_resort_that_saves_much_is_not_denied() -> None:
    halved = {**BATCH, "saved_reserved_bytes": 20 * MIB}
    (said,) = advice_blocks(space(50, 100), [LOGITS, halved], ROLES, 5)
    assert said == Paragraph(
        "The program fits, and nothing that leaves results and speed as they are saves"
        " a tenth of what it reserves: 7.00 MiB are optimiser state, 5.00 MiB weights,"
        " 4.00 MiB activations. `hlodb query remedies` lists 2 remedies."
    )


def test_measured_remedies_are_shown_wherever_memory_is_left() -> None:
    measured = [{**row, "standing": "measured"} for row in (LOGITS, BATCH)]
    assert advice_on(space(24, 100), measured) == Advice(measured, [])


def test_what_is_measured_comes_first_where_memory_is_short() -> None:
    """Of measured ones what saves most; what saves nothing stays where it was."""
    estimated = {**LOGITS, "standing": "estimated"}
    useless, batch, more = (
        {**row, "standing": "measured", "saved_reserved_bytes": size * MIB}
        for row, size in ((LOGITS, -1), (BATCH, 4), (BATCH, 5))
    )
    rows = [estimated, useless, batch, more]
    short = advice_on(space(200, 100), rows).shown
    assert short == [more, batch, estimated, useless]
    assert advice_on(space(50, 100), rows).shown == rows


def test_what_makes_a_program_fit_comes_before_what_is_measured() -> None:
    """But no estimate of a last resort, which changes what is computed."""
    fits, resort = (
        {**row, "standing": "estimated", "saved_reserved_bytes": 150 * MIB}
        for row in (LOGITS, BATCH)
    )
    measured = {**LOGITS, "standing": "measured", "saved_reserved_bytes": 5 * MIB}
    shown = advice_on(space(200, 100), [resort, measured, fits]).shown
    assert shown == [fits, measured, resort]


def test_nothing_is_left_for_sure_where_the_assignment_was_cut() -> None:
    cut = {**space(24, 100), "status": "unknown", "is_cut": True}
    assert advice_on(cut, [LOGITS, BATCH]) == Advice([LOGITS], [BATCH])
    said = advice_blocks(cut, [LOGITS, BATCH], ROLES, 5)[0]
    assert isinstance(said, Paragraph)
    assert said.text.startswith("What to do, and what")


def test_a_remedy_shows_both_falls_and_its_line() -> None:
    assert advice_blocks(space(30, 100), [LOGITS, BATCH], ROLES, 5) == [
        Paragraph(
            "The program fits; what would lower reserved memory and the live peak, by"
            " how much; savings do not add up; the limit is 100.00 MiB:"
        ),
        Table(
            ("reserved", "live", "then", "what", "source line", "what to do", "cost"),
            (
                (
                    *("3.00 MiB", "2.00 MiB", "27.00 MiB"),
                    *("logits", "train.py:43", "Do it.", "none"),
                ),
            ),
            (0, 1),
        ),
        Paragraph("Savings are estimated."),
        Paragraph("Where memory is short, `hlodb query remedies` lists 1 more remedy."),
    ]


def test_a_remedy_that_may_save_more_shows_a_range() -> None:
    more = {**LOGITS, "most_saved_reserved_bytes": 5 * MIB, "most_saved_bytes": 4 * MIB}
    tables = advice_blocks(space(30, 100), [more], ROLES, 5)
    [rows] = [block.rows for block in tables if isinstance(block, Table)]
    assert rows[0][:3] == ("3.00 to 5.00 MiB", "2.00 to 4.00 MiB", "27.00 MiB")
    assert rows[0][5] == (
        "Do it. The greater saving is if the compiler shards its gradients, too."
    )


def test_measuring_is_offered_where_a_remedy_is_an_edit() -> None:
    assert set(_EDITS) == MEASURED
    assert estimated([LOGITS]) == "Savings are estimated"
    assert estimated([LOGITS, {**LOGITS, "rule_id": "donate"}]) == (
        f"Savings are estimated; {MEASURE}"
    )


def test_of_a_program_that_fits_nothing_is_said_to_fit_then() -> None:
    assert str(afterwards(space(79, 100), LOGITS)) == "76.00 MiB"
    assert str(afterwards(space(80, 100), LOGITS)) == "77.00 MiB, fits"
    short = advice_blocks(space(80, 100), [LOGITS], ROLES, 5)[0]
    assert isinstance(short, Paragraph)
    assert short.text.startswith("What to do, and what")


@pytest.mark.parametrize(
    ("reserved", "more", "verdict"),
    [
        (97, {}, "94.00 MiB, fits"),
        # 4 % of the limit are left.
        (99, {}, "96.00 MiB, may just fit (estimated)"),
        (99, {"standing": "measured"}, "96.00 MiB, fits"),
        (99, {"standing": "estimated"}, "96.00 MiB, may just fit (estimated)"),
        # 10 % are left, and 60 MiB are to be saved.
        (
            150,
            {"saved_reserved_bytes": 60 * MIB},
            "90.00 MiB, may just fit (estimated)",
        ),
        (150, {"saved_reserved_bytes": 65 * MIB}, "85.00 MiB, fits"),
        (150, {}, "147.00 MiB, too much"),
        (
            150,
            {"most_saved_reserved_bytes": 60 * MIB},
            "90.00 to 147.00 MiB, may fit (estimated)",
        ),
        (
            150,
            {"most_saved_reserved_bytes": 40 * MIB},
            "147.00 MiB, too much",
        ),
    ],
)
def test_an_estimate_that_leaves_little_may_not_fit(
    reserved: int, more: dict[str, Any], verdict: str
) -> None:
    found = afterwards(space(reserved, 100), {**LOGITS, **more})
    assert str(found) == verdict


def test_a_well_tuned_program_is_told_what_holds_its_memory() -> None:
    (said,) = advice_blocks(space(30, 100), [BATCH], ROLES, 5)
    text = (
        "The program fits, and no remedy is known that leaves results and speed as they"
        " are: 7.00 MiB are optimiser state, 5.00 MiB weights, 4.00 MiB activations."
        " `hlodb query remedies` lists one that changes what is computed or how long it"
        " takes"
    )
    assert said == Paragraph(f"{text}; the remedy saves 3.00 MiB: Do it.")
    # Three of fifty MiB are not worth another result.
    (said,) = advice_blocks(space(50, 100), [BATCH], ROLES, 5)
    assert said == Paragraph(f"{text}.")


def test_slices_of_weights_are_no_weights() -> None:
    copied = [{**ROLES[0], "copied_bytes": 2 * MIB}, ROLES[1]]
    (said,) = advice_blocks(space(50, 100), [], copied, 5)
    assert said == Paragraph(
        "The program fits, and no remedy is known: 4.00 MiB are activations, 3.00 MiB"
        " weights, 2.00 MiB copies of weights."
    )
    # It does not fit where a log tells that it failed, whatever the limit is.
    for other in (space(50, None), {**space(50, 100), "has_failed": True}):
        (said_of_other,) = advice_blocks(other, [], copied, 5)
        assert str(said_of_other) == str(said).replace(
            "The program fits, and no remedy", "No remedy"
        )


def test_advice_is_folded_where_most_memory_is_free() -> None:
    (said,) = advice_blocks(space(24, 100), [LOGITS, BATCH], ROLES, 5)
    assert said == Paragraph(
        "The program leaves 76.00 MiB of 100.00 MiB, so nothing is advised."
        " `hlodb query remedies` lists 2 remedies."
    )


SAVED = {"role": "saved_activations", "owned_bytes": 9 * MIB, "copied_bytes": 0}
RECOMPUTED = {**SAVED, "role": "recomputed_activations"}
UNPRICED = "Not priced: jax.checkpoint (nn.remat) around the blocks that save"


@pytest.mark.parametrize(
    ("place", "remedies", "roles", "is_said"),
    [
        (space(101, 100), [BATCH], [*ROLES, SAVED], True),
        (space(101, 100), [], [*ROLES, SAVED], True),
        (space(24, 100), [BATCH], [*ROLES, SAVED], False),
        (space(101, 100), [BATCH], ROLES, False),
        (space(101, 100), [BATCH], [*ROLES, SAVED, RECOMPUTED], False),
        (space(101, 100), [{**LOGITS, "rule_id": "recompute"}], [SAVED], False),
        ({**space(101, 100), "space_name": "hbm"}, [BATCH], [SAVED], False),
        # They are mostly what this frees.
        (
            space(101, 100),
            [{**LOGITS, "saved_reserved_bytes": 5 * MIB}],
            [*ROLES, SAVED],
            False,
        ),
    ],
)
def test_a_checkpoint_that_a_cpu_may_undo_is_named_without_a_price(
    place: Any, remedies: list[Any], roles: list[Any], is_said: bool
) -> None:
    blocks = advice_blocks(place, remedies, roles, 5)
    texts = [block.text for block in blocks if isinstance(block, Paragraph)]
    assert any(text.startswith(UNPRICED) for text in texts) == is_said


@pytest.mark.parametrize("name", ["copy.1202.remat2", "fusion.96.remat_uncompressed"])
def test_estimates_are_uncertain_where_the_compiler_recomputes(name: str) -> None:
    """XLA for TPUs stops recomputing once a program fits in its limit."""
    roles = [{**role, "largest_instruction": "fusion.7"} for role in ROLES]

    def paragraphs() -> list[str]:
        blocks = advice_blocks(space(95, 100), [LOGITS], roles, 5)
        return [each.text for each in blocks if isinstance(each, Paragraph)]

    assert not any("XLA recomputes" in text for text in paragraphs())
    roles[1]["largest_instruction"] = name
    [said] = [text for text in paragraphs() if "XLA recomputes" in text]
    assert f"such as {name}, to need less memory" in said
