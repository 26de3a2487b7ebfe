"""What jaxlib 0.12 dumps: text, proto and records of one module are the same."""

import tarfile
from pathlib import Path

import pytest

from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.formats.proto.riegeli import message_of_records
from hlodb.ingest.modules.form_comparison import Described, compare_forms
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.records import Attributes, Call, Instruction
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.ingest.formats.proto.proto_pairs import members

NEWEST = DATA / "newest"
DUMPS = ("cpu-jaxlib-0.12.0.1", "tpu-v5e-jax-0.12.0.1")
OPCODES = members(NEWEST / "opcodes-jaxlib-0.12.0.1.tar.xz")
COMPARED = {"cpu-jaxlib-0.12.0.1": (5, 5), "tpu-v5e-jax-0.12.0.1": (5, 5)}


@pytest.mark.parametrize("name", DUMPS)
def test_every_form_gives_the_same_rows(tmp_path: Path, name: str) -> None:
    ingest([str(NEWEST / f"{name}.tar.xz")], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        assert connection.execute("FROM rejects").fetchall() == []
        unclaimed = "SELECT sum(lines_unclaimed) FROM dump_files"
        assert connection.execute(unclaimed).fetchall() == [(0,)]
        [compared] = connection.execute(
            "SELECT count(DISTINCT path) FILTER (path LIKE '%.pb'),"
            " count(DISTINCT path) FILTER (path LIKE '%.riegeli'),"
            " sum(difference_count) FROM proto_comparisons"
        ).fetchall()
    assert compared == (*COMPARED[name], 0)


@pytest.mark.parametrize("name", DUMPS)
def test_records_alone_are_the_module_of_the_proto(name: str) -> None:
    files = members(NEWEST / f"{name}.tar.xz")
    records = [path for path in files if path.endswith(".riegeli")]
    assert len(records) == 5
    for path in records:
        found = message_of_records(files[path])
        assert found[1:] == ("xla.HloProto", "")
        ours = parse_hlo_proto(found.message)
        theirs = parse_hlo_proto(files[path.replace(".riegeli", ".hlo.pb")])
        assert ours.rejects == []
        assert ours.module == theirs.module
        # XLA splits the module alone: who asks for records has no assignment.
        assert ours.assignment is None


def test_records_without_text_make_a_module(tmp_path: Path) -> None:
    with tarfile.open(NEWEST / f"{DUMPS[0]}.tar.xz") as packed:
        packed.extractall(
            tmp_path / "run", [m for m in packed if m.name.endswith(".riegeli")]
        )
    ingest([str(tmp_path / "run")], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        assert connection.execute(
            "SELECT name, stage, instruction_count, num_partitions FROM modules"
            " ORDER BY ALL"
        ).fetchall() == [
            ("jit_branches", "after_optimizations", 33, 1),
            ("jit_branches", "before_optimizations", 16, 1),
            ("jit_scattered", "before_optimizations", 33, 1),
            ("jit_training", "after_optimizations", 71, 1),
            ("jit_training", "before_optimizations", 54, 1),
        ]


def test_broken_records_are_rejected_and_say_what_to_do(tmp_path: Path) -> None:
    files = members(NEWEST / f"{DUMPS[0]}.tar.xz")
    [name] = [n for n in files if n.endswith("training.before_optimizations.riegeli")]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).write_bytes(files[name][:-5])
    ingest([str(tmp_path / "run")], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        [(status, reason)] = connection.execute(
            "SELECT status, reason FROM dump_files"
        ).fetchall()
    assert status == "rejected"
    assert reason == (
        "broken Riegeli records (a chunk has 2,433 of its 2,438 bytes); "
        "was the file copied as text?"
    )


def test_opcodes_and_attributes_of_text_and_proto_are_equal() -> None:
    text = parse_hlo(OPCODES["opcodes.txt"].decode())
    proto = parse_hlo_proto(OPCODES["opcodes.hlo.pb"])
    assert (text.rejects, text.unclaimed, proto.rejects) == ([], [], [])
    [module] = text.modules
    assert proto.module is not None
    assert proto.module.computations == module.computations
    assert proto.module.header == module.header
    compared = compare_forms(
        "x", Described(module, None), Described(proto.module, None)
    )
    assert [row.row["difference_count"] for row in compared] == [0] * 5
    assert [
        (c.name, c.execution_thread, c.backend_config) for c in module.computations
    ] == [
        ("sum", None, '{"kind":"sum","sizes":[1,2]}'),
        ("half", "host", 'no {JSON, with "quotes"'),
        ("e", None, None),
    ]
    assert module.header["backend_config"] == '{"a":1,"b":{"c":[2]}}'


def test_opcodes_by_hand_are_what_jaxlib_reads() -> None:
    ours = parse_hlo((NEWEST / "opcodes.hlo").read_text())
    theirs = parse_hlo(OPCODES["opcodes.txt"].decode())
    assert (ours.rejects, ours.unclaimed) == ([], [])

    def outline(text: object) -> list[object]:
        [module] = text.modules  # type: ignore[attr-defined]
        return [
            sorted(
                (i.name, i.opcode, i.operands, i.calls, i.is_root)
                for i in module.instructions[c.start : c.stop]
            )
            for c in module.computations
        ]

    assert outline(ours) == outline(theirs)
    by_name = {i.name: i.shape for i in ours.modules[0].instructions}
    # Inferred, as the text has none.
    assert by_name["exp"] == by_name["log"] == by_name["twice"] == "f32[8,16]"


PRINTED = {
    "%s = f32[8,16]{1,0} collective-reduce(%p), replica_groups={{0,1}},"
    " has_dynamic_root=false, to_apply=%add": Instruction(
        *("s", "collective-reduce", "f32[8,16]{1,0}", ("p",)),
        is_root=True,
        calls=(Call("to_apply", ("add",)),),
        attributes=Attributes(replica_groups="{{0,1}}", other="has_dynamic_root=false"),
    ),
    "%s = f32[8,16]{1,0} collective-reduce(%p, %r), replica_groups={{0,1}},"
    " has_dynamic_root=true, to_apply=%add": Instruction(
        *("s", "collective-reduce", "f32[8,16]{1,0}", ("p", "r")),
        is_root=True,
        calls=(Call("to_apply", ("add",)),),
        attributes=Attributes(replica_groups="{{0,1}}", other="has_dynamic_root=true"),
    ),
    "%s = f32[8,16]{1,0} collective-broadcast(%p, %r), replica_groups={{0,1}},"
    " has_dynamic_root=true": Instruction(
        *("s", "collective-broadcast", "f32[8,16]{1,0}", ("p", "r")),
        is_root=True,
        attributes=Attributes(replica_groups="{{0,1}}", other="has_dynamic_root=true"),
    ),
    "%s = f32[8,16]{1,0} shuffle(%p), dimensions={1}, mode=rotate,"
    " shifts={1}": Instruction(
        *("s", "shuffle", "f32[8,16]{1,0}", ("p",)),
        is_root=True,
        attributes=Attributes(other="dimensions={1}, mode=rotate, shifts={1}"),
    ),
    '%n = f32[8,16]{1,0} negate(%p), origin={{"n"}}': Instruction(
        *("n", "negate", "f32[8,16]{1,0}", ("p",)),
        is_root=True,
        attributes=Attributes(other='origin={{"n"}}'),
    ),
    "%d = f32[8,16]{1,0} dot(%p, %p, %r), lhs_contracting_dims={1},"
    " rhs_contracting_dims={0}, block_scaling_config={lhs={scale_idx=2 strides=1x16"
    " steps=1x16}}": Instruction(
        *("d", "dot", "f32[8,16]{1,0}", ("p", "p", "r")),
        is_root=True,
        attributes=Attributes(
            other="lhs_contracting_dims={1}, rhs_contracting_dims={0},"
            " block_scaling_config={lhs={scale_idx=2 strides=1x16 steps=1x16}}"
        ),
    ),
}


@pytest.mark.parametrize(("line", "expected"), PRINTED.items())
def test_what_jaxlib_prints_of_new_opcodes(line: str, expected: Instruction) -> None:
    """Each between a module and a computation with settings of their own."""
    found = parse_hlo(
        'HloModule m, backend_config={"a":1}\n\n'
        "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
        "  %b = f32[] parameter(1)\n  ROOT %c = f32[] add(%a, %b)\n}\n\n"
        "ENTRY %e (p: f32[8,16], r: s32[1]) -> f32[8,16] {\n"
        '  %p = f32[8,16]{1,0} parameter(0), origin={{"p"}}\n'
        f"  %r = s32[1]{{0}} parameter(1)\n  ROOT {line}\n"
        '}, backend_config={"b":2}\n'
    )
    assert (found.rejects, found.unclaimed) == ([], [])
    [module] = found.modules
    assert module.header == {"backend_config": '{"a":1}'}
    assert [c.backend_config for c in module.computations] == [None, '{"b":2}']
    assert list(module.instructions)[3:] == [
        Instruction(
            *("p", "parameter", "f32[8,16]{1,0}"),
            parameter_number=0,
            attributes=Attributes(other='origin={{"p"}}'),
        ),
        Instruction("r", "parameter", "s32[1]{0}", parameter_number=1),
        expected,
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ROOT s = exp2(p, p) }", "expected 1 operand of exp2, not 2"),
        ("ROOT s = log2() }", "expected 1 operand of log2, not 0"),
        (
            "ROOT s = shuffle(p), dimensions={0} }",
            "expected the attribute mode of shuffle",
        ),
        (
            "ROOT s = collective-reduce(p) }",
            "expected a shape: that of collective-reduce does not follow",
        ),
        (
            "ROOT s = f32[2] collective-reduce(p) }",
            "expected the attribute to_apply of collective-reduce",
        ),
        (
            'ROOT s = exp2(p) }, backend_config="a", backend_config="b"',
            "duplicated attribute backend_config",
        ),
        ("ROOT s = exp2(p) }, backend_config=17", "expected a string"),
    ],
)
def test_what_jaxlib_refuses_is_rejected(line: str, message: str) -> None:
    text = f"HloModule m\nENTRY e {{ p = f32[2] parameter(0)\n {line}\n"
    assert [reject.message for reject in parse_hlo(text).rejects] == [message]
