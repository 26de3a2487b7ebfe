"""From paths to runs: what is found, in which order, under which name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hlodb.errors import UsageError
from hlodb.ingest.recognise.file_names import without_compression
from hlodb.ingest.sources.discover import Limits, RefusedFile, RunSource, discover
from tests.conftest import SHARED_ARCHIVES
from tests.ingest.dumps import (
    AFTER,
    COMPRESSIONS,
    FILES,
    MODULE,
    UNITS,
    contents,
    packed_tar,
    packed_zip,
    write,
)

HLO = b"HloModule f\n"
HOW = (
    "XLA writes a dump when XLA_FLAGS=--xla_dump_to=DIRECTORY is set"
    " before the program starts."
)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write(tmp_path / "dump", FILES)


def only(*paths: Path | str, run_name: str | None = None) -> RunSource:
    [source] = discover([str(path) for path in paths], run_name=run_name)
    return source


def test_directory_in_order(dump: Path) -> None:
    source = only(dump)
    assert (source.name, source.origin) == ("dump", str(dump))
    assert source.file_count == len(FILES)
    units = list(source.units())
    assert [[(f.path, f.data) for f in unit.files] for unit in units] == UNITS
    assert (source.has_dump, source.refused) == (True, [])
    assert contents(source) == UNITS, "units can be read again"


def test_files_say_what_they_are_and_when_they_were_written(dump: Path) -> None:
    path = f"{AFTER}.txt"
    os.utime(dump / path, (1_700_000_000, 1_700_000_000))
    files = {file.path: file for unit in only(dump).units() for file in unit.files}
    assert files[path].recognised.stage == "after_optimizations"
    assert files[path].modified_at == 1_700_000_000
    assert files[path].problem == ""


PACKED = {
    "dump.tar": packed_tar(FILES),
    **{f"dump.tar{end}": pack(packed_tar(FILES)) for end, pack in COMPRESSIONS.items()},
    "dump.tgz": COMPRESSIONS[".gz"](packed_tar(FILES)),
    "dump.zip": packed_zip(FILES),
    "renamed.bin": COMPRESSIONS[".xz"](packed_tar(FILES)),
    "renamed.zip.part": packed_zip(FILES),
}


@pytest.mark.parametrize("name", PACKED)
def test_archives_hold_the_same_units(tmp_path: Path, name: str) -> None:
    source = only(*[write(tmp_path, {name: PACKED[name]}) / name])
    assert contents(source) == UNITS
    assert (source.has_dump, source.refused, source.file_count) == (True, [], None)
    times = {file.modified_at for unit in source.units() for file in unit.files}
    assert times == {1_700_000_000.0}


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_compressed_files_hold_the_same_units(tmp_path: Path, ending: str) -> None:
    pack = COMPRESSIONS[ending]
    files = {path + ending: pack(data) for path, data in FILES.items()}
    for source in (
        only(write(tmp_path / "dump", files)),
        only(write(tmp_path, {"a.tar": packed_tar(files)}) / "a.tar"),
        only(write(tmp_path, {"a.zip": packed_zip(files)}) / "a.zip"),
    ):
        assert [
            [(without_compression(path), data) for path, data in unit]
            for unit in contents(source)
        ] == UNITS


def test_concatenated_streams_are_one_file(tmp_path: Path) -> None:
    for ending, pack in COMPRESSIONS.items():
        name = f"module_0001.f.before_optimizations.txt{ending}"
        write(tmp_path / "dump", {name: pack(b"HloModule ") + pack(b"f\n")})
    found = contents(only(tmp_path / "dump"))
    assert [data for unit in found for _, data in unit] == [HLO] * 4


def test_a_second_file_of_a_kind_is_a_unit_of_its_own(tmp_path: Path) -> None:
    name = "module_0001.f.before_optimizations.txt"
    files = {name: HLO, f"{name}.gz": COMPRESSIONS[".gz"](HLO)}
    found = contents(only(write(tmp_path / "dump", files)))
    assert found == [[(name, HLO)], [(f"{name}.gz", HLO)]]


@pytest.mark.parametrize("cut", [30, 2000])
def test_compressed_file_cut_short_gives_what_there_is(
    tmp_path: Path, cut: int
) -> None:
    lines = [f"%a.{n} = f32[] parameter({n * n})\n" for n in range(2000)]
    text = ("HloModule f\n" + "".join(lines)).encode()
    names = {}
    for ending, pack in COMPRESSIONS.items():
        names[f"module_0001.f.before_optimizations.txt{ending}"] = pack(text)[:cut]
    [*units] = only(write(tmp_path / "dump", names)).units()
    for unit in units:
        [file] = unit.files
        assert text.startswith(file.data)
        assert file.problem.endswith("data ends early")


def test_loose_files_named_together_are_one_run(dump: Path) -> None:
    paths = [dump / path for path in sorted(FILES)]
    source = only(*paths, *paths)
    assert (source.name, source.origin) == ("dump", str(dump))
    assert contents(source) == UNITS


def test_glob(dump: Path) -> None:
    found = contents(only(dump / "*_optimizations.txt"))
    assert [path for unit in found for path, _ in unit] == [
        f"{MODULE}.before_optimizations.txt",
        f"{AFTER}.txt",
    ]


def test_glob_passes_over_files_beside_dumps(tmp_path: Path) -> None:
    write(tmp_path / "runs", {"a.tar": packed_tar(FILES), "README.md": b"About\n"})
    assert [run.name for run in discover([str(tmp_path / "runs" / "*")])] == ["a"]


@pytest.mark.parametrize("named", ["rank_1", "rank_1/", "rank_1/.", "../night/rank_1"])
def test_the_folder_of_a_process_says_which_it_is(
    dump: Path, tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does where the folder above is named."""
    above = tmp_path / "night"
    shutil.copytree(dump, above / "rank_1")
    monkeypatch.chdir(above)
    [whole], [one] = discover([str(above)]), discover([named])
    assert one.name == "rank_1"
    assert [e.path for e in one.entries] == [e.path for e in whole.entries]
    assert {e.path.split("/")[0] for e in one.entries} == {"rank_1"}
    monkeypatch.chdir(above / "rank_1")
    [here] = discover(["."])
    assert [e.path for e in here.entries] == [e.path for e in whole.entries]


def test_archives_in_a_directory_are_runs_of_their_own(tmp_path: Path) -> None:
    night = {
        "module_0001.f.before_optimizations.txt": HLO,
        "b/x.tar.gz": COMPRESSIONS[".gz"](packed_tar(FILES)),
        "c/x.zip": packed_zip(FILES),
        "y.tar": packed_tar(FILES),
    }
    sources = discover([str(write(tmp_path / "night", night))])
    assert [source.name for source in sources] == ["night", "y", "b/x", "c/x"]
    assert [len(contents(source)) for source in sources] == [1, 7, 7, 7]


def test_equal_names_grow_until_they_differ(tmp_path: Path) -> None:
    for folder in ("a/dump", "b/dump", "b/other"):
        write(tmp_path / folder, FILES)
    write(tmp_path / "b", {"dump.zip": packed_zip(FILES), "c.tar": packed_tar(FILES)})
    paths = ["a/dump", "b/dump", "b/other", "b/dump.zip", "b/dump", "b/c.tar"]
    sources = discover([str(tmp_path / path) for path in paths])
    assert [source.name for source in sources] == [
        "a/dump",
        "b/dump",
        "other",
        "dump.zip",
        "c",
    ]


@pytest.mark.parametrize("named", ["../tpu.log", "deeper/../../tpu.log"])
def test_a_file_above_is_called_after_its_folder(
    tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job" / "here" / "deeper").mkdir(parents=True)
    (tmp_path / "job" / "tpu.log").write_text(
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4096 bytes.\n"
    )
    monkeypatch.chdir(tmp_path / "job" / "here")
    [found] = discover([named])
    assert (found.name, found.origin) == ("job", str((tmp_path / "job").resolve()))


def test_a_name_for_one_run(dump: Path, tmp_path: Path) -> None:
    assert only(dump, run_name="nightly").name == "nightly"
    archive = write(tmp_path, {"x.tar": packed_tar(FILES)}) / "x.tar"
    with pytest.raises(UsageError) as error:
        discover([str(dump), str(archive)], run_name="nightly")
    assert str(error.value) == (
        "2 runs were found (dump, x), which cannot all be called 'nightly'."
        " Name one dump, or leave the name out."
    )


def said(*paths: Path) -> str:
    with pytest.raises(UsageError) as error:
        discover([str(path) for path in paths])
    return str(error.value)


def test_missing_path(dump: Path) -> None:
    near = dump.parent / "dunp"
    assert said(near) == f"{near}: no such file or directory. Did you mean dump?"
    far = dump / "x" / "y"
    assert said(far) == (
        f"{far}: no such file or directory; of this path {dump} exists."
    )
    pattern = dump / "*.xyz"
    assert said(pattern) == f"{pattern}: no file or directory matches this pattern."


def test_the_standard_input_has_no_names(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither alone nor beside what is there; a file may be called so."""
    monkeypatch.chdir(dump.parent)
    for paths in ([Path("-")], [dump, Path("-")], [Path("-"), dump]):
        assert said(*paths) == (
            "-: the standard input is not read, as the names of a dump's files tell"
            " what they are. Save it, as `… > dump.tar` does with an archive, and name"
            " that."
        )
    dump.rename("-")
    assert [source.name for source in discover(["-"])] == ["-"]


@pytest.mark.parametrize("path", ["a" * 5000, "b/" + "a" * 5000 + "/c", "a\0b"])
def test_paths_that_cannot_be(path: str) -> None:
    with pytest.raises(UsageError, match="no such file or directory"):
        discover([path])
    with pytest.raises(UsageError, match="A path is empty"):
        discover([""])


def test_nothing_that_is_a_dump(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert said(empty) == f"{empty} is empty. {HOW}"
    files = {f"{n}.py": b"import jax\n" for n in range(5)}
    other = write(tmp_path / "other", files)
    assert said(other) == (
        f"{other} holds no XLA dump, only 0.py (text that is no XLA dump),"
        " 1.py (text that is no XLA dump), 2.py (text that is no XLA dump)"
        f" and 2 more. {HOW}"
    )
    loose = write(tmp_path, {"x.txt": bytes(range(256))}) / "x.txt"
    assert said(loose) == f"{loose} is no XLA dump (binary data). {HOW}"


def test_links_and_devices_in_directories(dump: Path, tmp_path: Path) -> None:
    name = "module_0009.g.before_optimizations.txt"
    outside = write(tmp_path / "else", {name: HLO, "a.tar": packed_tar(FILES)})
    (dump / name).symlink_to(outside / name)
    (dump / "also.tar").symlink_to(outside / "a.tar")
    (dump / "module_0008.f.before_optimizations.txt").symlink_to(dump / f"{AFTER}.txt")
    (dump / "loop").symlink_to(dump)
    (dump / "gone").symlink_to(dump / "nothing")
    os.mkfifo(dump / "module_0003.f.before_optimizations.txt")
    source = only(dump)
    paths = [path for unit in contents(source) for path, _ in unit]
    inside = "module_0008.f.before_optimizations.txt"
    assert sorted(paths) == sorted([*FILES, inside])
    leads_out = f"a link to {outside}/{{}}, outside the directory; not followed"
    assert sorted(source.refused) == [
        RefusedFile("also.tar", leads_out.format("a.tar")),
        RefusedFile("gone", "cannot be read: No such file or directory"),
        RefusedFile("loop", "a link to a directory; not followed"),
        RefusedFile(
            "module_0003.f.before_optimizations.txt", "neither file nor folder"
        ),
        RefusedFile(name, leads_out.format(name)),
    ]


def test_links_that_a_user_names_are_followed(dump: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(dump)
    assert contents(only(tmp_path / "latest")) == UNITS
    name = "module_0009.g.before_optimizations.txt"
    (tmp_path / name).symlink_to(dump / f"{AFTER}.txt")
    [[(path, _)]] = contents(only(tmp_path / name))
    assert path == name


def test_files_that_are_replaced_before_they_are_read(dump: Path) -> None:
    source = only(dump)
    link, fifo = dump / f"{AFTER}.txt", dump / f"{AFTER}-buffer-assignment.txt"
    link.unlink()
    link.symlink_to("/etc/passwd")
    fifo.unlink()
    os.mkfifo(fifo)
    paths = [path for unit in contents(source) for path, _ in unit]
    assert len(paths) == len(FILES) - 2
    assert sorted(source.refused) == [
        RefusedFile(fifo.name, "cannot be read: neither file nor folder"),
        RefusedFile(link.name, "cannot be read: Too many levels of symbolic links"),
    ]


def test_files_that_are_gone_when_they_are_read(dump: Path) -> None:
    source = only(dump)
    (dump / f"{AFTER}.txt").unlink()
    paths = [path for unit in contents(source) for path, _ in unit]
    assert f"{AFTER}.txt" not in paths and len(paths) == len(FILES) - 1
    assert source.refused == [
        RefusedFile(f"{AFTER}.txt", "cannot be read: No such file or directory")
    ]


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / os.fsdecode(b"module_0001.\xff.before_optimizations.txt")).write_bytes(
        HLO
    )
    [[(path, _)]] = contents(only(folder))
    assert path == "module_0001.\\udcff.before_optimizations.txt"


def test_limits_of_files(tmp_path: Path) -> None:
    limits = Limits(file_bytes=1000, expansion_free_bytes=100, expansion_ratio=10)
    names = {
        "plain": HLO + bytes(1000),
        "long.gz": COMPRESSIONS[".gz"](HLO + os.urandom(990)),
        "bomb.gz": COMPRESSIONS[".gz"](HLO + bytes(900)),
        "bomb.xz": COMPRESSIONS[".xz"](HLO + bytes(9000)),
        "bomb.zst": COMPRESSIONS[".zst"](HLO + bytes(900)),
        "good": HLO,
    }
    source = discover([str(write(tmp_path / "dump", names))], limits=limits)[0]
    assert contents(source) == [[("good", HLO)]]
    grows = "grows to more than 10 times its size when decompressed, the limit"
    large = "larger than 1,000 bytes, the limit for one file"
    assert sorted(source.refused) == [
        RefusedFile("bomb.gz", grows),
        RefusedFile("bomb.xz", grows),
        RefusedFile("bomb.zst", grows),
        RefusedFile("long.gz", large),
        RefusedFile("plain", large),
    ]


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("archive", SHARED_ARCHIVES, ids=lambda path: path.name)
def test_real_archives_equal_their_directories(archive: Path, tmp_path: Path) -> None:
    packed = only(archive)
    files = dict(entry for unit in contents(packed) for entry in unit)
    assert packed.refused == []
    unpacked = contents(only(write(tmp_path / "dump", files)))
    assert unpacked == contents(packed)
    zipped = write(tmp_path, {"d.zip": packed_zip(files)}) / "d.zip"
    assert contents(only(zipped)) == unpacked


def test_the_log_of_a_job_belongs_to_the_dump_beside_it(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    text = "HloModule m\n\nENTRY e {\n  ROOT a = f32[] parameter(0)\n}\n"
    (dump / "module_0001.m.txt").write_text(text)
    inside, beside = dump / "job.log", tmp_path / "train.log"
    other = tmp_path / "notes.txt"
    other.write_text("a log that says nothing of memory\n")
    for log in (inside, beside):
        log.write_text("Out of memory while trying to allocate 68719476736 bytes.\n")
    paths = [str(dump), str(beside), str(inside), str(other)]
    (run,) = discover(paths, run_name="oom")
    assert (run.name, run.origin, run.file_count) == ("oom", str(dump), 4)
    files = [file.path for unit in run.units() for file in unit.files]
    assert sorted(files) == ["job.log", "module_0001.m.txt", "notes.txt", "train.log"]
    assert sorted(e.path for e in run.entries) == sorted(files)
    assert [run.name for run in discover(paths)] == ["dump", tmp_path.name]


def test_a_job_runs_out_of_memory_at_the_end_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    end = (
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 68719476736 bytes."
    )
    log.write_text("step 17, loss 0.25\n" * 20_000 + end)
    (file,) = (file for unit in only(log).units() for file in unit.files)
    assert (file.recognised.kind, file.recognised.description) == (
        "log",
        "log of running out of memory",
    )
