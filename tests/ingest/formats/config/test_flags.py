"""Flags as dumps list them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.config.flags import Flags, parse_flags
from hlodb.ingest.records import Reject, Unclaimed
from hlodb.ingest.sources.discover import discover
from tests.conftest import SHARED


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
