"""Which values an all-gather put together from a parameter, on a small module."""

from __future__ import annotations

from pathlib import Path

from hlodb.ingest.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect, transaction

TEXT = """\
HloModule jit_f, is_scheduled=true

%wrapped.1 (p: f32[4]) -> f32[8] {
  %p = f32[4]{0} parameter(0)
  ROOT %gather.1 = f32[8]{0} all-gather(%p), replica_groups={{0,1}}, dimensions={0}
}

%wrapped.2 (q: f32[4]) -> f32[8] {
  %q = f32[4]{0} parameter(0)
  ROOT %gather.2 = f32[8]{0} all-gather(%q), replica_groups={{0,1}}, dimensions={0}
}

ENTRY %main (w: f32[4], x: f32[4]) -> (f32[8], f32[8], f32[8], f32[8]) {
  %w = f32[4]{0} parameter(0)
  %x = f32[4]{0} parameter(1)
  %sum = f32[4]{0} add(%x, %x)
  %start.1 = ((f32[4]{0}), f32[8]{0}) async-start(%w), calls=%wrapped.1
  %done.1 = f32[8]{0} async-done(%start.1)
  %copy.1 = f32[8]{0} copy(%done.1)
  %start.2 = ((f32[4]{0}), f32[8]{0}) async-start(%sum), calls=%wrapped.2
  %done.2 = f32[8]{0} async-done(%start.2)
  %copy.2 = f32[8]{0} copy(%done.2)
  %pair = (f32[8]{0}, f32[8]{0}) all-gather(%sum, %w), replica_groups={{0,1}}
  %first = f32[8]{0} get-tuple-element(%pair), index=0
  %second = f32[8]{0} get-tuple-element(%pair), index=1
  %copy.3 = f32[8]{0} copy(%first)
  %copy.4 = f32[8]{0} copy(%second)
  ROOT %all = (f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(%copy.1, %copy.2, %copy.3, %copy.4)
}
"""  # noqa: E501

VALUES = [
    *(("gather.1", None), ("gather.2", None)),
    *(("pair", index) for index in ("{}", "{0}", "{1}")),
    *((f"copy.{number}", None) for number in range(1, 5)),
]


def test_an_operand_is_followed_to_the_parameter_it_comes_from(tmp_path: Path) -> None:
    """Through what is called, and each operand of a gather of several by itself."""
    dump, db = tmp_path / "dump", tmp_path / "w.duckdb"
    dump.mkdir()
    (dump / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(TEXT)
    ingest([str(dump)], db, jobs=1)
    with transaction(db) as connection:
        for value_id, (name, index) in enumerate(VALUES):
            connection.execute(
                'INSERT INTO store."values" BY NAME SELECT module_id, instruction_id,'
                " ? AS value_id, ? AS shape_index FROM instructions WHERE name = ?",
                [value_id, index, name],
            )
    with connect(db) as connection:
        rows = run_query(connection, "gathered_values").rows
    found = {(*VALUES[value_id], *said) for _, value_id, *said in rows}
    assert found == {
        ("gather.1", None, "gather.1", "w"),
        ("copy.1", None, "gather.1", "w"),
        ("pair", "{1}", "pair", "w"),
        ("copy.4", None, "pair", "w"),
    }
