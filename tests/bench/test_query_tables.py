"""The figures of queries at scale: what the page shows, and how it is reckoned."""

from __future__ import annotations

from typing import Any

from bench.page import PAGE
from bench.queries import read_results
from bench.query_tables import NAME, exponent, page, percentile
from docs.measured import with_table


def scale(runs: int, warm: dict[str, float | None]) -> dict[str, Any]:
    warehouse = {
        "generate_seconds": 1.0,
        "runs": runs,
        "modules": 3 * runs,
        "module_contents": 3,
        "files": 6 * runs,
        "instructions": 70,
        "size_bytes": 2_000_000,
    }
    measured = {
        name: {"reads": "all runs", "rows": 1, "cold_seconds": 1.0}
        | ({"error": "more than 120 s"} if s is None else {"warm_seconds": s})
        for name, s in warm.items()
    }
    return {
        "warehouse": warehouse,
        "machine": {"cores": 2, "duckdb": "1.5"},
        "measured": measured,
    }


def test_the_page_shows_the_figures() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text, NAME, page(read_results())) == text


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(n) for n in range(1, 21)]
    assert percentile(values, 0.95) == 19.0
    assert percentile(values, 1.0) == 20.0
    assert percentile([3.0], 0.95) == 3.0


def test_an_exponent_compares_the_two_largest_warehouses() -> None:
    results = {
        "10": scale(10, {"same": 9.0, "linear": 9.0, "brief": 0.01}),
        "100": scale(100, {"same": 0.1, "linear": 0.1, "brief": 0.01}),
        "1000": scale(1000, {"same": 0.1, "linear": 1.0, "brief": 0.02}),
    }
    found = {name: exponent(results, name) for name in ("same", "linear", "brief")}
    assert found["same"] == 0.0
    assert round(found["linear"] or 0, 9) == 1.0
    assert found["brief"] is None


def test_what_is_slow_or_cut_off_is_named() -> None:
    text = page({"10": scale(10, {"quick": 0.2, "slow": 1.5, "endless": None})})
    assert "- 95 % of 3 queries take at most inf s" in text
    assert "- 1 of 3 queries across runs take at most 1 s warm; slower:" in text
    assert "slower: endless, slow" in text
    assert "more than 120 s" in text


def test_without_figures_the_page_says_how_to_get_them() -> None:
    assert page({}) == "No figures yet: `make bench-queries`.\n"
