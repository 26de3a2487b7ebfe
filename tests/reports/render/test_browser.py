"""The page in a browser: explored by pointer and keyboard, and safe to open anywhere.

Needs Chromium and playwright; axe-core, too, for what people who hear a page meet.
`make page` installs the latter two and runs these.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "google-chrome") if (found := shutil.which(name))),
    None,
)
AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
STRICT = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'"

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: run `make page`"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def files(
    demo_warehouse: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Return the page of a comparison, that of one run, and those of a site."""
    folder = tmp_path_factory.mktemp("pages")
    asked = {
        "diff": ["diff", "jaxlib-0.4.35", "jaxlib-0.5.3"],
        "explain": ["explain", "--run", "v5e-jax-0.10.2"],
    }
    for name, words in asked.items():
        output = ["--format", "html", "--output", f"{folder / name}.html"]
        hlodb(demo_warehouse, *words, *output)
    site = folder / "a site"
    hlodb(demo_warehouse, "site", str(site))
    [program] = site.glob("programs/jit_gpt_fsdp-*")
    return {
        **{name: folder / f"{name}.html" for name in asked},
        "site": site / "index.html",
        "run": site / "runs" / "jaxlib-0.5.3.html",
        "program": program,
        "findings": site / "findings.html",
    }


def hlodb(warehouse: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hlodb", *words, "--db", str(warehouse)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    return done.stdout


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        # A container's root has no sandbox to start one in.
        chromium = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Any, files: dict[str, Path]) -> Iterator[Open]:
    """Return a function that opens a page; whatever it logs or loads is an error."""
    told: list[str] = []
    loaded: list[str] = []
    contexts = []

    def opened(name: str = "diff", hash_: str = "", **options: Any) -> Any:
        context = browser.new_context(
            viewport=options.pop("viewport", {"width": 1400, "height": 1000}), **options
        )
        contexts.append(context)
        page = context.new_page()
        address = f"{files[name].as_uri()}{hash_}"
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: told.append(request.url))
        page.goto(address)
        loaded.append(address.partition("#")[0])
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [each.partition("#")[0] for each in told] == loaded


LARGEST = 'figure:has(.map) >> nth=0 >> rect[data-name="broadcast.26.clone"]'
FACTS = [
    "at peak now: broadcast.26.clone, 2.00 MiB at 2.00 MiB, step 47 to 191",
    "f32[16,32,32,32]",
    "unclassified",
    "first read at /opt/programs/zoo/zoo.py:56",
    "read by while.5, call.39",
]


def told(page: Any) -> list[str]:
    """Return the lines about the value that the first map's reader looks at."""
    found: list[str] = (
        page.locator("figure:has(.map)").first.locator(".told li").all_inner_texts()
    )
    return found


def test_a_value_under_the_pointer_is_described(open_page: Open) -> None:
    page = open_page()
    page.locator(LARGEST).last.hover()
    assert told(page) == FACTS
    page.mouse.move(0, 0)
    assert told(page) == []


def test_a_click_pins_a_value_and_shows_a_command_that_works(
    open_page: Open, demo_warehouse: Path
) -> None:
    page = open_page()
    page.locator(LARGEST).last.click()
    page.mouse.move(0, 0)
    assert told(page) == FACTS
    assert page.url.endswith("#buffer=broadcast.26.clone")
    command = page.locator(".told code").inner_text().split()
    assert command[:3] == ["hlodb", "query", "instruction_neighbours"]
    answer = hlodb(demo_warehouse, *command[1:], "--format", "csv")
    assert "jaxlib-0.5.3,jit_cnn,7,,broadcast.26.clone,1," in answer


def test_a_link_leads_to_the_value(open_page: Open) -> None:
    page = open_page(hash_="#buffer=broadcast.26.clone")
    assert told(page) == FACTS
    rect = page.locator(LARGEST).last
    assert rect.get_attribute("aria-pressed") == "true"
    playwright.expect(rect).to_be_in_viewport()


def test_the_keyboard_reaches_every_value(open_page: Open) -> None:
    page = open_page()
    figure = page.locator("figure:has(.map)").first
    figure.locator(".step input").focus()
    page.keyboard.press("Tab")
    focused = "document.activeElement.dataset.name"
    first = page.evaluate(focused)
    assert first is not None
    seen = {first}
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
        seen.add(page.evaluate(focused))
    assert len(seen) > 3
    assert told(page)[0].split(", ")[0].endswith(page.evaluate(focused))
    page.keyboard.press("Enter")
    assert page.locator(".told code").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".told code").count() == 0


def test_both_maps_zoom_together(open_page: Open) -> None:
    page = open_page()
    figure = page.locator("figure:has(.map)").first
    boxes = "maps => maps.map(map => map.getAttribute('viewBox').split(' ')[2])"
    before = figure.locator(".map").evaluate_all(boxes)
    figure.get_by_role("button", name="Zoom in").click()
    after = figure.locator(".map").evaluate_all(boxes)
    assert [float(width) for width in after] == [float(w) / 2 for w in before]
    steps = int(figure.locator(".map").first.get_attribute("data-steps"))
    quarter, rest = round(steps / 4 + 0.01), round(steps * 3 / 4 + 0.01)
    assert (
        figure.locator(".range").inner_text().startswith(f"Steps {quarter} to {rest}, ")
    )
    figure.get_by_role("button", name="Show the whole map").click()
    assert figure.locator(".map").evaluate_all(boxes) == before


def test_a_box_zooms_with_ticks_and_a_double_click_goes_back(open_page: Open) -> None:
    page = open_page()
    figure = page.locator("figure:has(.map)").first
    figure.locator("svg").first.scroll_into_view_if_needed()
    box = figure.locator(".map").first.bounding_box()

    def at(across: float, down: float) -> tuple[float, float]:
        return box["x"] + across * box["width"], box["y"] + down * box["height"]

    page.mouse.move(*at(0.25, 0.25))
    page.mouse.down()
    page.mouse.move(*at(0.5, 0.5), steps=3)
    page.mouse.up()
    text = figure.locator(".range").inner_text()
    first, last = map(int, text.split(",")[0].removeprefix("Steps ").split(" to "))
    steps = int(figure.locator(".map").first.get_attribute("data-steps"))
    assert abs(first - steps / 4) <= steps / 20
    assert abs(last - steps / 2) <= steps / 20
    assert page.locator(".told code").count() == 0
    ticks = figure.locator(".scale .mark.middle").all_text_contents()
    assert ticks
    assert all(first <= int(tick.replace(",", "")) <= last for tick in ticks)
    assert figure.locator(".scale .mark.end").count() > 1
    assert figure.locator(".tick:visible").count() == 0
    page.mouse.dblclick(*at(0.5, 0.5))
    assert figure.locator(".range").inner_text() == ""
    assert figure.locator(".scale").count() == 0


def test_a_map_is_entered_and_left_by_one_tab(open_page: Open) -> None:
    page = open_page("explain")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    figure = page.locator("figure:has(.map)").first
    figure.locator(".step input").focus()
    inside = "document.activeElement.matches('.value > rect')"
    page.keyboard.press("Tab")
    assert page.evaluate(inside)
    page.keyboard.press("Tab")
    assert not page.evaluate(inside)


def test_a_filter_counts_rows_and_says_when_none_is_left(open_page: Open) -> None:
    page = open_page()
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    tools = page.locator(".tools:has(.filter)").first
    table = tools.locator("xpath=following-sibling::*[1]").locator("table")
    count = table.locator("tbody tr").count()
    word = table.locator("tbody tr").first.inner_text().split()[0]
    tools.locator(".filter").fill(word)
    left = table.locator("tbody tr:visible").count()
    assert 0 < left < count
    assert tools.locator("output").inner_text() == f"{left} of {count} rows"
    tools.locator(".filter").fill("nowhere at all")
    assert tools.locator("output").inner_text() == "no row matches"
    assert table.locator("caption").inner_text() == "No row matches."
    tools.locator(".filter").fill("")
    assert tools.locator("output").inner_text() == ""
    assert table.locator("caption").count() == 0


def test_a_phone_shows_a_shadow_where_something_is_cut(open_page: Open) -> None:
    page = open_page("explain", viewport={"width": 390, "height": 844})
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    cut = page.locator(".wide").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth)"
        ".map(e => getComputedStyle(e).backgroundAttachment)"
    )
    assert cut
    assert set(cut) == {"local, local, scroll, scroll"}
    hidden = page.locator("main *").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1"
        " && ['hidden', 'clip'].includes(getComputedStyle(e).overflowX)"
        " && !e.closest('svg')).length"
    )
    assert hidden == 0


def test_a_mark_is_for_the_eye_alone(open_page: Open) -> None:
    page = open_page()
    assert page.locator("h1 [aria-hidden]").inner_text().strip() == "±"
    assert (
        page.locator("h1")
        .inner_text()
        .startswith("± 2 worse, 1 mixed, 2 by less than 1 MiB: jit_cnn")
    )


def test_one_step_moves_on_base_and_candidate(open_page: Open) -> None:
    page = open_page()
    card = page.locator("article").first
    card.locator(".step input").first.fill("59")
    peak = "candidate 25.59 MiB"
    outputs = card.locator(".step output").all_inner_texts()
    assert len(outputs) == 2
    assert all(text.startswith("step 59, base ") for text in outputs)
    assert all(text.endswith(peak) for text in outputs)
    lines = card.locator(".map > .cursor")
    assert len(set(lines.evaluate_all("all => all.map(l => l.x1.baseVal.value)"))) == 1
    assert lines.count() == 2


def test_colours_follow_what_is_chosen(open_page: Open) -> None:
    page = open_page()
    figure = page.locator("figure:has(.map)").first
    figure.locator("select").select_option("type")
    names = figure.locator(".legend li").all_inner_texts()
    assert set(names) >= {"f32", "s32"}
    fill = "rect => getComputedStyle(rect).fill"
    types = {
        kind: figure.locator(f'rect[data-type="{kind}"]').first.evaluate(fill)
        for kind in ("f32", "s32")
    }
    assert types["f32"] != types["s32"]


def test_search_and_sort_and_filter(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("searchbox", name="Search").fill("zoo.py:56 broadcast")
    rows = page.locator("tbody tr:visible").all_inner_texts()
    assert rows
    assert all("zoo.py:56" in row and "broadcast" in row for row in rows)
    values = page.locator(".map .value > rect:not(.aside)").count()
    found = page.locator("header output").inner_text()
    assert found.endswith(f"{values} values")
    page.get_by_role("searchbox", name="Search").fill("nowhere at all")
    assert page.locator("header output").inner_text() == "nothing found"
    page.get_by_role("searchbox", name="Search").fill("")
    assert page.locator("main > section > details[open]").count() == 0
    page.locator("summary", has_text="Programs").click()
    table = page.locator('section[aria-labelledby="programs"] table')
    heading = table.get_by_role("button", name="candidate")
    heading.click()
    amounts = table.locator("tbody tr td:nth-child(5)").all_inner_texts()
    sizes = [in_bytes(amount) for amount in amounts if amount != "-"]
    assert sizes == sorted(sizes, reverse=True)
    assert len({amount.split()[1] for amount in amounts if " " in amount}) > 1
    heading.click()
    again = table.locator("tbody tr td:nth-child(5)").all_inner_texts()
    assert again[: len(sizes)] == amounts[: len(sizes)][::-1]


def test_search_leads_from_match_to_match(open_page: Open) -> None:
    page = open_page("explain")
    page.keyboard.press("/")
    page.keyboard.type("zoo.py:35")
    assert page.locator("main > section > details[open]").count() > 0
    at = "[...document.querySelectorAll('rect, tr')].findIndex(e => e.matches('.hit'))"
    seen = []
    for key in ("Enter", "Enter", "Shift+Enter"):
        page.keyboard.press(key)
        assert page.locator(".hit:not(.aside)").count() == 1
        seen.append(page.evaluate(at))
    assert seen[0] == seen[2] < seen[1]


def in_bytes(amount: str) -> float:
    number, unit = amount.replace(",", "").split()
    power = ("B", "KiB", "MiB", "GiB").index(unit)
    return float(number) * float(1024**power)


def test_the_source_line_of_the_largest_buffer_is_seen_at_once(
    open_page: Open,
) -> None:
    page = open_page()
    line = page.locator("article").first.get_by_text("zoo.py:56").last
    playwright.expect(line).to_be_visible()
    page = open_page("explain")
    assert "/opt/programs/zoo/zoo.py:" in page.locator("header").inner_text()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_screen_holds_sentence_picture_and_remedies(
    open_page: Open, width: int, height: int
) -> None:
    page = open_page("explain", viewport={"width": width, "height": height})
    shown = page.locator(".first .parts > .wide > svg:visible")
    assert shown.count() == 1
    boxes = [
        found.bounding_box()
        for found in (
            page.locator("h1"),
            page.locator("header p").first,
            shown,
            page.locator(".first .remedies .figure, .first .remedies p").first,
        )
    ]
    bottoms = [box["y"] + box["height"] for box in boxes]
    assert bottoms == sorted(bottoms)
    assert bottoms[-1] <= height
    assert min(box["width"] for box in boxes) > 0.3 * width
    folded = page.locator("main > section > details")
    assert folded.count() > 1
    assert folded.locator("table").first.is_hidden()


def test_without_scripts_everything_is_readable(open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    assert page.locator("button").count() == 0
    assert page.locator("h1").inner_text() != ""
    assert (
        page.locator("figure > .wide > svg").count()
        == page.locator("figcaption").count()
    )
    titles = page.locator(".map .value > rect > title").all_text_contents()
    assert "; ".join(FACTS) in titles


def test_a_strict_policy_leaves_the_pictures_coloured(
    browser: Any, files: dict[str, Path]
) -> None:
    """As Jenkins serves pages: neither style sheet nor script is allowed."""
    page = browser.new_page()
    headers = {"content-type": "text/html", "content-security-policy": STRICT}
    body = files["diff"].read_text(encoding="utf-8")
    page.route("**/*", lambda route: route.fulfill(body=body, headers=headers))
    page.goto("http://jenkins.test/")
    assert page.locator("button").count() == 0
    fills = page.locator(
        ":is(rect, circle):not(pattern *):not(:has(rect))"
    ).evaluate_all("all => [...new Set(all.map(one => getComputedStyle(one).fill))]")
    assert "rgb(0, 0, 0)" not in fills
    assert len(fills) > 5
    page.close()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: `make page`")
@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("diff", "light"),
        ("explain", "dark"),
        ("site", "light"),
        ("site", "dark"),
        ("run", "light"),
        ("run", "dark"),
        ("program", "light"),
        ("program", "dark"),
        ("findings", "dark"),
    ],
)
def test_nothing_bars_people_who_hear_the_page(
    open_page: Open, name: str, scheme: str
) -> None:
    page = open_page(name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    if values := page.locator(".map .value > rect").all():
        values[0].focus()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


@pytest.mark.parametrize("name", ["explain", "site", "run", "program", "findings"])
def test_a_phone_shows_the_page_without_scrolling_aside(
    open_page: Open, name: str
) -> None:
    page = open_page(name, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_paper_shows_what_is_folded_and_no_tools(open_page: Open) -> None:
    page = open_page()
    page.emulate_media(media="print")
    assert page.locator(".tools:visible").count() == 0
    assert page.locator("article p").last.is_visible()


def test_a_site_leads_from_page_to_page_without_scripts(
    browser: Any, files: dict[str, Path]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(files["site"].as_uri())
    for name, seen in (
        ("jaxlib-0.5.3", "jaxlib-0.5.3: ± 1 worse: jit_cnn CPU memory"),
        ("← jaxlib-0.4.35", "jaxlib-0.4.35: "),
        ("jit_cnn", "jit_cnn, "),
        ("Run jaxlib-0.10.2", "jaxlib-0.10.2: "),
        ("Findings", "Findings: 0 open of 0"),
        ("Overview", "Memory of compiled programs: 10 runs, "),
    ):
        page.get_by_role("link", name=name, exact=True).first.click()
        assert page.locator("h1").inner_text().startswith(seen)
    folder = files["site"].parent.as_uri()
    assert [url for url in loaded if not url.startswith(folder)] == []
    context.close()


@pytest.mark.parametrize("name", ["site", "run", "program"])
def test_the_first_screen_of_a_site_holds_a_sentence_and_a_picture(
    open_page: Open, name: str
) -> None:
    page = open_page(name, viewport={"width": 1440, "height": 900})
    figures = [each.bounding_box() for each in page.locator("figure svg").all()]
    seen = [box for box in figures if box and box["y"] + box["height"] <= 900]
    assert seen
    assert page.locator("h1").bounding_box()["y"] < 200
