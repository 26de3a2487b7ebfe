"""Sizes that fit by the laws of buffers, against those that were compiled."""

from __future__ import annotations

import pytest

from bench.fits import CLOSE, DATA, fitted

EXACT = (
    *("batches", "bodies", "edges", "images", "kernels", "pieces", "recurrences"),
    "volumes",
)


@pytest.mark.parametrize("series", EXACT)
def test_lines_squares_pieces_and_guests_are_foretold(series: str) -> None:
    """Activations of batches lie in the new weights until they are larger."""
    fit = fitted(DATA / f"{series}.json")
    assert abs(fit.error_ratio) <= CLOSE
    assert fit.lower_size is not None
    assert fit.largest_size is not None
    assert fit.lower_size <= fit.largest_size <= (fit.upper_size or 0)


@pytest.mark.parametrize("file", sorted(DATA.glob("*.json")), ids=lambda f: f.stem)
def test_the_lower_size_compiles_within_the_limit(file: object) -> None:
    """Also where the compiler decides otherwise for larger sizes."""
    fit = fitted(DATA / str(file))
    assert fit.is_safe
    assert (fit.lower_size or 0) <= 2 * max(fit.compiled)
