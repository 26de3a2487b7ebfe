"""Flags as dumps list them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.config.flags import Flags, parse_flags
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.records import Reject, Unclaimed
from hlodb.ingest.sources.discover import discover
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, SHARED


def test_debug_options() -> None:
    text = """xla_cpu_enable_fast_min_max: false
xla_dump_to: "/tmp/a b"
xla_disable_hlo_passes: "a"
xla_disable_hlo_passes: "b"
xla_gpu_disable_async_collectives: ALLREDUCE
xla_backend_extra_options {
  key: "xla_x"
  value: "3"
}
xla_gpu_analytical {
  a: 1
  b {
    c: 2
  }
}
"""
    assert parse_flags("debug_options", text) == Flags(
        [
            ("xla_cpu_enable_fast_min_max", "false"),
            ("xla_dump_to", "/tmp/a b"),
            ("xla_disable_hlo_passes", "a,b"),
            ("xla_gpu_disable_async_collectives", "ALLREDUCE"),
            ("xla_backend_extra_options.xla_x", "3"),
            ("xla_gpu_analytical.a", "1"),
            ("xla_gpu_analytical.b.c", "2"),
        ]
    )


def test_tpu_comp_env() -> None:
    text = 'xla_a: AUTO\nxla_b {\n}\nxla_c {\n  spec: "min"\n}\n'
    assert parse_flags("tpu_comp_env", text).flags == [
        ("xla_a", "AUTO"),
        ("xla_b", "{}"),
        ("xla_c.spec", "min"),
    ]


def test_module_config() -> None:
    text = "replica_count: 1\ndebug_options {\n  xla_a: true\n  493: 1\n}\n"
    assert parse_flags("module_config", text).flags == [
        ("xla_a", "true"),
        ("493", "1"),
    ]


def test_flagfile() -> None:
    text = """# made by hand
--xla_a=256
--xla_b='false'
--xla_c="a b"
'--xla_d=e f'
--xla_e
--noxla_f
-xla_g = 1
--xla_h=
--xla_i=a=b
--xla_a=257

what is this
"""
    assert parse_flags("flagfile", text) == Flags(
        [
            ("xla_a", "256,257"),
            ("xla_b", "false"),
            ("xla_c", "a b"),
            ("xla_d", "e f"),
            ("xla_e", "true"),
            ("xla_f", "false"),
            ("xla_g", "1"),
            ("xla_h", ""),
            ("xla_i", "a=b"),
        ],
        unclaimed=[Unclaimed(13, "what is this")],
    )


def test_rejects_are_passed_on() -> None:
    found = parse_flags("debug_options", 'xla_a: "open\nxla_b: 1\n')
    assert found.flags == [("xla_b", "1")]
    assert [reject.line for reject in found.rejects] == [1]


@pytest.mark.parametrize(
    ("kind", "text", "cut"),
    [
        ("flagfile", "--xla_a=1\n--xla_b=fal", "--xla_b=fal"),
        ("debug_options", "xla_a: 1\nxla_b: fal", "xla_b: fal"),
        ("flagfile", "--xla_a", "--xla_a"),
    ],
)
def test_a_last_line_without_its_end_is_cut_off(kind: str, text: str, cut: str) -> None:
    found = parse_flags(kind, text)
    assert found.flags == [("xla_a", "1")] * text.count("\n")
    message = "the text breaks off in this line; everything before it was read"
    assert found.rejects == [
        Reject(text.count("\n") + 1, len(cut) + 1, "end", "truncated", message, cut)
    ]


def test_other_kinds_have_none() -> None:
    assert parse_flags("hlo_text", "a: 1\n") == Flags()


@given(st.sampled_from(["flagfile", "debug_options", "module_config"]), st.text())
def test_any_text_ends_in_flags(kind: str, text: str) -> None:
    found = parse_flags(kind, text)
    assert len({name for name, _ in found.flags}) == len(found.flags)


@pytest.mark.shared
def test_real_flags() -> None:
    """Each line of a real flagfile is a flag; debug_options and config agree."""
    [source] = discover([str(SHARED / "tpu" / "v5e-jax-0.10.2.tar.xz")])
    found = {
        (file.recognised.kind, file.recognised.module_number): parse_flags(
            file.recognised.kind, file.data.decode()
        )
        for unit in source.units()
        for file in unit.files
    }
    flags = [f for (kind, _), f in found.items() if kind == "flagfile"]
    assert [len(f.flags) for f in flags] == [1356] * 7
    assert all(not f.rejects and not f.unclaimed for f in found.values())
    for (kind, number), options in found.items():
        if kind == "debug_options":
            configured = dict(found["module_config", number].flags)
            assert all(configured.get(n, v) == v for n, v in options.flags)


OPTIONS = """executable_build_options {
  device_ordinal: -1
  debug_options {
    xla_backend_optimization_level: 3
    xla_gpu_enable_command_buffer: FUSION
    xla_gpu_enable_command_buffer: CUBLAS
    xla_options {
      key: "size"
      value: "-1"
    }
    456: 1
  }
  num_replicas: 1
  device_assignment {
    replica_count: 1
  }
  comp_envs {
    environments {
      type_url: "type.googleapis.com/xla.Env"
      value: "\\010\\000"
    }
  }
  memory_fitting_level: EFFORT_O2
}
env_option_overrides {
  key: "xla_backend_optimization_level"
  value {
    int_field: 0
  }
}
env_option_overrides {
  key: "xla_tpu_scoped_vmem_limit_kib"
  value {
    string_field: "65536"
  }
}
profile_version: -1
"""


def test_compile_options() -> None:
    assert parse_flags("compile_options", OPTIONS) == Flags(
        [
            ("xla_backend_optimization_level", "0"),
            ("xla_gpu_enable_command_buffer", "FUSION,CUBLAS"),
            ("xla_options.size", "-1"),
            ("456", "1"),
            ("profile_version", "-1"),
            ("device_ordinal", "-1"),
            ("num_replicas", "1"),
            ("memory_fitting_level", "EFFORT_O2"),
            ("xla_tpu_scoped_vmem_limit_kib", "65536"),
        ]
    )


def test_what_jaxlib_says_beside_a_module(tmp_path: Path) -> None:
    archive = DATA / "newest" / "plain-cpu-jaxlib-0.12.0.1.tar.xz"
    ingest([str(archive)], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        assert connection.execute("FROM rejects").fetchall() == []
        assert connection.execute(
            "SELECT kind, status, lines_unclaimed FROM dump_files"
            " WHERE path LIKE '%/%' ORDER BY path"
        ).fetchall() == [
            ("compile_options", "loaded", 0),
            ("ignored", "ignored", None),
            ("topology", "loaded", 0),
        ]
        assert connection.execute("SELECT platform FROM runs").fetchall() == [("cpu",)]
        assert connection.execute(
            "SELECT count(*), count(DISTINCT name),"
            " max(value) FILTER (name = 'memory_fitting_level'),"
            " max(value) FILTER (name = 'xla_gpu_pipeline_all_gather')"
            " FROM compiler_flags"
        ).fetchall() == [(286, 286, "EFFORT_O2", "COLLECTIVE_PIPELINING_MODE_DEFAULT")]
