"""Compilations as processes: limits, crashes, environments, names of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hlodb.replay.compile import UNCHANGED, Bounds, Edit, compile_all
from hlodb.replay.interpreters import Interpreter
from hlodb.replay.recover import Key, Program
from tests.replay.fake_jax import fake_python, jobs


def program(number: int, text: str = "HloModule jit_f", name: str = "jit_f") -> Program:
    key = Key("", "", number, name, "")
    return Program(key, f"module_{number:04d}.{name}", "txt", text.encode())


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Return an interpreter that dumps module 0 with its inputs, and module 2."""
    dump = tmp_path / "plain"
    dump.mkdir()
    for name in ("module_0000.jit_f.x.txt", "module_0002.jit_g.x.txt", "other"):
        (dump / name).write_text(name)
    return fake_python(tmp_path / "fake", dump)


def test_a_crash_costs_one_program_alone(python: Path, tmp_path: Path) -> None:
    programs = [program(1, "crash"), program(2, "refuse"), program(3)]
    done = compile_all(
        programs, Interpreter(python, {}), UNCHANGED, tmp_path / "out", jobs=2
    )
    assert [one.error for one in done] == [
        "the compiler crashed (SIGSEGV): F1126 check failed: no such layout",
        "XlaRuntimeError: INVALID_ARGUMENT: no\nmore of it",
        "",
    ]


def test_what_hangs_is_ended(python: Path, tmp_path: Path) -> None:
    interpreter, bounds = Interpreter(python, {}), Bounds(seconds=0.5)
    [done] = compile_all(
        [program(1, "hang")], interpreter, UNCHANGED, tmp_path / "out", bounds=bounds
    )
    assert done.error == "it took longer than 0.5 seconds: pass --timeout"


def test_files_get_the_number_of_the_first_dump(python: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for number in (7, 1, 0):
        compile_all([program(number)], Interpreter(python, {}), UNCHANGED, out)
    found = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.txt"))
    assert found == [
        "module_0000.jit_f/module_0000.jit_f.x.txt",
        "module_0000.jit_f/module_0002.jit_g.x.txt",
        "module_0001.jit_f/module_0001.jit_f.x.txt",
        "module_0001.jit_f/module_0003.jit_g.x.txt",
        "module_0007.jit_f/module_0007.jit_f.x.txt",
        "module_0007.jit_f/module_0009.jit_g.x.txt",
    ]
    text = (out / found[-1]).read_text()
    assert text == "module_0002.jit_g.x.txt"


def test_the_users_flags_do_not_reach_the_compiler(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JAX_ENABLE_X64", "LIBTPU_INIT_ARGS", "PYTHONPATH", "XLA_FLAGS"):
        monkeypatch.setenv(name, "--of-the-user")
    one = Program(
        Key("", "", 0, "f", ""), "p", "txt", b"HloModule f", replicas=2, partitions=3,
        flags={"xla_a": "1", "xla_b": "2"}, aliases=((0, 1),), donors=(2,),
        build_options={"use_shardy_partitioner": True},
        dump_flags=("--xla_dump_hlo_as_text",),
    )  # fmt: skip
    edit = Edit(
        narrow=(("f32", "bf16"),),
        drop=(4,),
        donate=(1,),
        flags={"xla_b": "3", "xla_c": "4"},
    )
    [done] = compile_all([one], Interpreter(python, {}), edit, tmp_path / "out")
    assert done.notes == ("a note",)
    [job] = jobs(python)
    environment = job.pop("environment")
    del job["pid"]
    assert "--of-the-user" not in environment.values()
    assert environment["JAX_PLATFORMS"] == "cpu"
    assert environment["XLA_FLAGS"].split() == [
        "--xla_dump_to=dump",
        "--xla_dump_hlo_as_text",
        "--xla_force_host_platform_device_count=6",
    ]
    assert job == {
        "source": "program.txt",
        "text": "HloModule f",
        "replicas": 2,
        "partitions": 3,
        "topology": None,
        "target": None,
        "build_options": {"use_shardy_partitioner": True},
        "flags": {"xla_a": "1", "xla_b": "3", "xla_c": "4"},
        "required_flags": ["xla_b", "xla_c"],
        "aliases": [[0, 1]],
        "donors": [2],
        "narrow": [["f32", "bf16"]],
        "shard": [],
        "drop": [4],
        "donate": [1],
        "memory_bytes": 16 << 30,
        "parent": os.getpid(),
    }


def test_a_slice_of_tpus_is_asked_for(python: Path, tmp_path: Path) -> None:
    known = Program(Key("", "", 0, "f", ""), "a", "txt", b"", topology="v5e:2x2")
    unknown = Program(Key("", "", 1, "f", ""), "b", "txt", b"", topology="")
    interpreter, out = Interpreter(python, {}), tmp_path / "out"
    done = compile_all([known, unknown], interpreter, UNCHANGED, out)
    assert [one.error for one in done] == [
        "",
        "the dump does not say for which TPUs: pass --device",
    ]
    edit = Edit(topology="v6e:2x2")
    assert not any(one.error for one in compile_all([unknown], interpreter, edit, out))
    assert [job["topology"] for job in jobs(python)] == ["v5e:2x2", "v6e:2x2"]
    assert "TPU_SKIP_MDS_QUERY" in jobs(python)[0]["environment"]


def test_a_gpu_is_described_to_the_compiler(python: Path, tmp_path: Path) -> None:
    """The interpreter may use the GPU of the machine, but needs none."""
    gpu = Program(Key("", "", 0, "f", ""), "a", "txt", b"", gpu="platform_name: 'CUDA'")
    interpreter, out = Interpreter(python, {}), tmp_path / "out"
    [done] = compile_all([gpu], interpreter, UNCHANGED, out)
    assert not done.error
    edit, other = Edit(topology="v6e:2x2"), tmp_path / "other"
    assert not any(one.error for one in compile_all([gpu], interpreter, edit, other))
    here, elsewhere = jobs(python)
    assert here["target"] == "gpu_target_config.pbtxt"
    assert here["environment"]["JAX_PLATFORMS"] == "cuda,cpu"
    assert "device_count" not in here["environment"]["XLA_FLAGS"]
    assert elsewhere["target"] is None
    assert elsewhere["environment"]["JAX_PLATFORMS"] == "cpu"
