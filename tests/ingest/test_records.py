"""Lists that hostile input makes long: the first items are kept, others counted."""

from __future__ import annotations

from hlodb.ingest.records import MOST_KEPT, Reject, Tally, summed_up, total
from hlodb.ingest.sources.limits import Refusals, RefusedFile


def reject(line: int) -> Reject:
    return Reject(line, 1, "instruction", "malformed", "expected more", "x")


def test_a_tally_keeps_the_first_and_counts_all() -> None:
    tally = Tally(range(MOST_KEPT))
    assert (tally, total(tally)) == (list(range(MOST_KEPT)), MOST_KEPT)
    tally.append(-1)
    tally += Tally(range(MOST_KEPT + 5))
    assert (tally[-1], len(tally)) == (MOST_KEPT - 1, MOST_KEPT)
    assert (tally.left_out, total(tally)) == (MOST_KEPT + 6, 2 * MOST_KEPT + 6)
    assert total([1, 2]) == 2


def test_rejects_are_summed_up_in_a_last_one() -> None:
    few = [reject(line) for line in range(MOST_KEPT)]
    assert summed_up(few) == few
    message = "3 more places of this file could not be read"
    last = Reject(MOST_KEPT - 1, 0, "instruction", "more", message, "")
    assert summed_up([*few, *few[:3]]) == [*few, last]
    assert summed_up([]) == []


def test_refused_files_that_stand_for_others_are_counted() -> None:
    refused = Refusals(RefusedFile(f"{n}", "a link") for n in range(MOST_KEPT + 7))
    [*first, last] = refused.summed_up()
    assert len(first) == MOST_KEPT
    reason = "7 more files are not read, for such reasons"
    assert last == RefusedFile(f"{MOST_KEPT - 1}", reason, 7)
    assert Refusals(refused.summed_up()).summed_up() == [*first, last]
