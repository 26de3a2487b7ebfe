"""Programs captured without dump flags: a stand-in for Compiled, and JAX itself."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import hlodb
from hlodb.cli import main
from hlodb.errors import UsageError
from hlodb.ingest.formats.proto.hlo_pb2 import HloProto
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.integrations.jax_capture import captured_files
from hlodb.integrations.jax_fit import search
from hlodb.queries import macros
from tests.conftest import DATA

PROGRAM = (
    DATA / "moved_lines" / "before" / "module_0008.jit_cg.cpu_after_optimizations.txt"
)
SIZES = {
    "argument_size_in_bytes": 1050624,
    "output_size_in_bytes": 6192,
    "alias_size_in_bytes": 0,
    "temp_size_in_bytes": 4272,
}
# One allocation, number 0, of 8 bytes.
ASSIGNMENT = b"\x1a\x04\x08\x00\x10\x08"


class Stats:
    """What `memory_analysis` gives, as far as this release knows it."""

    def __init__(self, assignment: bytes | None, **sizes: int) -> None:
        self.serialized_buffer_assignment_proto = assignment
        for name, size in sizes.items():
            setattr(self, name, size)


class Module:
    def as_serialized_hlo_module_proto(self) -> bytes:
        return b"\x0a\x06jit_cg"


class Device:
    platform = "cpu"
    device_kind = "AMD EPYC"


class Executable:
    def hlo_modules(self) -> list[Module]:
        return [Module()]

    def local_devices(self) -> list[Device]:
        return [Device()]


class SerializedExecutable(Executable):
    """An executable whose client serializes it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.client = self

    def serialize_executable(self, executable: Executable) -> bytes:
        assert executable is self
        return self.data


class Compiled:
    """What hlodb asks of a jax.stages.Compiled."""

    def __init__(self, text: str | None, stats: Stats | None) -> None:
        self.text = text
        self.stats = stats
        self.executable = Executable()

    def as_text(self) -> str | None:
        return self.text

    def memory_analysis(self) -> Stats | None:
        if self.stats is None:
            raise NotImplementedError("this backend does not tell")
        return self.stats

    def runtime_executable(self) -> Executable:
        return self.executable


def rows(db: Path, question: str) -> list[tuple[Any, ...]]:
    with hlodb.open(db) as warehouse:
        return warehouse.sql(question).rows


def test_text_and_analysis(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    compiled = Compiled(PROGRAM.read_text(), Stats(None, **SIZES))
    summary = hlodb.capture(compiled, run="live", db=db, series="s", commit="abc")
    assert (summary.name, summary.files, summary.modules) == ("live", 2, 1)
    assert rows(
        db,
        "SELECT r.name, series, commit_sha, r.platform, device, origin FROM runs AS r",
    ) == [("live", "s", "abc", "cpu", "AMD EPYC", "hlodb.capture")]
    assert rows(db, "SELECT name, stage, instruction_count FROM modules") == [
        ("jit_cg", "after_optimizations", 128)
    ]
    assert rows(
        db,
        "SELECT module_name, argument_bytes, output_bytes, alias_bytes, temp_bytes,"
        " peak_bytes FROM memory_analysis",
    ) == [("jit_cg", 1050624, 6192, 0, 4272, None)]


@pytest.mark.slow
def test_programs_gather_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    db = tmp_path / "w.duckdb"
    installed: list[duckdb.DuckDBPyConnection] = []
    install = macros.install_macros

    def counted(connection: duckdb.DuckDBPyConnection) -> None:
        installed.append(connection)
        install(connection)

    monkeypatch.setattr(macros, "install_macros", counted)
    text = PROGRAM.read_text()
    other = text.replace("constant(100)", "constant(101)")
    assert other != text
    for each in (text, other, text):
        summary = hlodb.capture(Compiled(each, Stats(None, **SIZES)), run="live", db=db)
    assert (summary.name, summary.modules, summary.unchanged_files) == ("live", 2, 2)
    assert rows(db, "SELECT count(*) FROM memory_analysis") == [(2,)]
    assert len(installed) == 1
    assert main(["check", "--db", str(db)]) == 0


def test_the_assignment_comes_along() -> None:
    compiled = Compiled(PROGRAM.read_text(), Stats(ASSIGNMENT, **SIZES))
    files = captured_files(compiled)
    folders = {path.split("/")[0] for path in files}
    [folder] = folders
    assert folder.startswith("jit_cg-")
    assert sorted(path.split("/")[1] for path in files) == [
        "jit_cg.after_optimizations.hlo.pb",
        "jit_cg.after_optimizations.txt",
        "memory_analysis.json",
    ]
    message = HloProto.FromString(files[f"{folder}/jit_cg.after_optimizations.hlo.pb"])
    assert message.hlo_module.name == b"jit_cg"
    assert [a.size for a in message.buffer_assignment.buffer_allocations] == [8]
    assert json.loads(files[f"{folder}/memory_analysis.json"]) == [
        {"module": "jit_cg", **SIZES}
    ]


@pytest.mark.parametrize("release", ["0.5.3", "0.4.30", ""])
def test_the_assignment_from_the_executable(tmp_path: Path, release: str) -> None:
    """Releases before 0.6 give it in no other way; others raise, or give no HLO."""
    dump = tmp_path / "dump"
    with tarfile.open(DATA / "cache" / f"jaxlib-{release or '0.5.3'}.tar.xz") as packed:
        packed.extractall(tmp_path)
    [entry] = (tmp_path / "cache").glob("jit_step-*")
    [text] = dump.glob("*.jit_step.*optimizations.txt")
    [proto] = dump.glob("*.jit_step.*optimizations.hlo.pb")
    unpacked = zstandard.ZstdDecompressor().decompressobj().decompress
    compiled = Compiled(text.read_text(), Stats(None, **SIZES))
    compiled.executable = SerializedExecutable(
        unpacked(entry.read_bytes())[4:] if release else b"machine code"
    )
    files = captured_files(compiled)
    found = [data for path, data in files.items() if path.endswith(".hlo.pb")]
    if not release:
        assert found == []
        return
    assert parse_hlo_proto(found[0]) == parse_hlo_proto(proto.read_bytes())


@pytest.mark.slow
def test_a_backend_that_tells_nothing_but_text(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    summary = hlodb.capture(Compiled(PROGRAM.read_text(), None), run="live", db=db)
    assert (summary.files, summary.modules) == (1, 1)


@pytest.mark.parametrize(
    "compiled", [Compiled(None, None), Compiled("", None), "jit_f"]
)
def test_what_is_no_program(tmp_path: Path, compiled: object) -> None:
    with pytest.raises(UsageError, match=r"capture wants a jax\.stages\.Compiled"):
        hlodb.capture(compiled, run="live", db=tmp_path / "w.duckdb")
    assert not (tmp_path / "w.duckdb").exists()


def test_jax_itself(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")

    def step(weights: Any, batch: Any) -> Any:
        return weights - 0.1 * (batch.T @ batch), (batch @ weights).sum()

    array = jax.numpy.ones((64, 64))
    compiled = jax.jit(step, donate_argnums=(0,)).lower(array, array).compile()
    db = tmp_path / "w.duckdb"
    hlodb.capture(compiled, run="live", db=db)
    [(name, arguments, version)] = rows(
        db,
        "SELECT m.name, a.argument_bytes, r.framework_version"
        " FROM runs AS r JOIN modules AS m USING (run_id)"
        " JOIN memory_analysis AS a USING (run_id)",
    )
    assert (name, arguments, version) == ("jit_step", 32768, jax.__version__)
    assert main(["check", "--db", str(db)]) == 0


def test_the_largest_batch_of_jax_itself() -> None:
    """The largest batch fits, and one row more does not; neither was in the law."""
    jax = pytest.importorskip("jax")

    def shape(*dims: int) -> Any:
        return jax.ShapeDtypeStruct(dims, jax.numpy.float32)

    def step(w: Any, v: Any, x: Any) -> Any:
        return jax.grad(lambda w, v: (jax.numpy.tanh(x @ w) @ v).sum(), (0, 1))(w, v)

    def arguments(rows: int) -> tuple[Any, ...]:
        return shape(1024, 4096), shape(4096, 1024), shape(rows, 1024)

    def needed(rows: int) -> int:
        found = jax.jit(step).lower(*arguments(rows)).compile().memory_analysis()
        return int(
            found.argument_size_in_bytes
            + found.output_size_in_bytes
            + found.temp_size_in_bytes
        )

    limit = 72 * 2**20
    [row] = hlodb.fit(step, map(arguments, (64, 128, 256)), limit="72 MiB").dicts()
    assert (row["axis"], row["growing_part"], row["is_checked"]) == (
        "2[0]",
        "temp",
        True,
    )
    assert needed(row["largest_size"]) <= limit < needed(row["largest_size"] + 1)


def test_an_explanation_without_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compiled = Compiled(PROGRAM.read_text(), Stats(None, **SIZES))
    page = hlodb.explain(compiled, limit="1 GiB")
    first, _, rest = page.text.partition("\n")
    assert first.startswith("explained: jit_cg, ")
    assert "hlodb ingest" not in rest
    assert page.html.startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == []


def test_jax_itself_explained() -> None:
    jax = pytest.importorskip("jax")

    def step(weights: Any, batch: Any) -> Any:
        return (jax.numpy.tanh(batch @ weights) ** 2).sum()

    shapes = (
        jax.ShapeDtypeStruct((256, 512), jax.numpy.float32),
        jax.ShapeDtypeStruct((128, 256), jax.numpy.float32),
    )
    pages = [
        hlodb.explain(step, *shapes),
        hlodb.explain(jax.jit(step), *shapes),
        hlodb.explain(jax.jit(step).lower(*shapes)),
        hlodb.explain(jax.jit(step).lower(*shapes).compile()),
    ]
    assert "explained: jit_step, " in pages[0].text
    assert len({page.text for page in pages}) == 1


def test_public_names_are_listed() -> None:
    assert dir(hlodb) == sorted(hlodb.__all__)


def test_one_size_is_not_enough() -> None:
    with pytest.raises(UsageError, match="two sizes"):
        hlodb.fit(Compiled("", None), [()])


def test_a_reader_in_the_same_process_does_not_lock_a_capture_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HLODB_DB", str(tmp_path / "w.duckdb"))
    monkeypatch.setenv("HLODB_LOCK_TIMEOUT", "0")
    count = "SELECT count(*) FROM runs"
    compiled = Compiled(PROGRAM.read_text(), Stats(None, **SIZES))
    hlodb.capture(compiled, run="first")
    with hlodb.open() as warehouse, hlodb.open() as other:
        assert warehouse.sql(count).rows == other.sql(count).rows == [(1,)]
        hlodb.capture(compiled, run="second")
        assert warehouse.sql(count).rows == other.sql(count).rows == [(2,)]
    with pytest.raises(UsageError, match="closed"):
        warehouse.sql(count)


class Sized:
    """A jitted function of one size, and what `lower` and `compile` give of it."""

    def __init__(self, bytes_of: Callable[[int], int]) -> None:
        self.bytes_of = bytes_of
        self.compiled: list[int] = []

    def lower(self, size: int) -> Sized:
        self.compiled.append(size)
        return self

    def compile(self, options: dict[str, object] | None = None) -> Compiled:
        """Refuse options, as older releases do, and what needs more than is there."""
        size = self.bytes_of(self.compiled[-1])
        if size > 2 * FITTING:
            raise RuntimeError("RESOURCE_EXHAUSTED: Ran out of memory in memory space")
        if options:
            raise RuntimeError("INVALID_ARGUMENT: no such option as xla_dump_to")
        assignment = HloProto().buffer_assignment
        assignment.buffer_allocations.add(index=0, size=size)
        text = PROGRAM.read_text().replace("constant(100)", f"constant({size})")
        return Compiled(text, Stats(assignment.SerializeToString(), **SIZES))


FITTING = 64_000


@pytest.mark.slow
def test_the_largest_size_is_found_by_compiling() -> None:
    function = Sized(lambda n: 100 * n + max(0, n - 400) * 500)
    largest = hlodb.largest_size(
        function, lambda n: (n,), (8, 16), limit=FITTING, multiple=4
    )
    assert largest.fits is not None
    assert largest.too_large is not None
    assert largest.fits <= 440 < largest.too_large <= 1.05 * largest.fits
    assert sorted(set(function.compiled)) == [*largest.reserved]
    assert largest.reserved == {
        n: size if (size := function.bytes_of(n)) <= 2 * FITTING else None
        for n in function.compiled
    }


@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 1000), min_size=1, max_size=3, unique=True),
    st.lists(st.none() | st.integers(0, 10**7)),
    st.sampled_from([0.0, 0.05, 0.5]),
)
def test_a_search_ends_at_what_fits(
    largest: int, first: list[int], guesses: list[int | None], within: float
) -> None:
    """Whatever the laws say, right or wrong."""
    tried = []

    def is_fitting(size: int) -> bool:
        tried.append(size)
        return size <= largest

    fits, too_large = search(
        is_fitting, lambda: guesses.pop() if guesses else None, first, within, 500
    )
    assert too_large is not None
    assert fits <= largest < too_large
    assert too_large - fits <= max(1, fits * within)
    assert len(tried) == len(set(tried)) <= 80 + 3 * len(guesses)


def test_a_search_goes_on_where_larger_sizes_fit_again() -> None:
    fitting = [*range(1, 600), *range(1000, 1900)]
    fits, too_large = search(fitting.__contains__, lambda: None, [256, 512], 0.05, 50)
    assert fits in range(1805, 1900)
    assert too_large in range(1900, 1995)
