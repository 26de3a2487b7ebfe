"""Into how many parts a sharding splits an array, as releases print it."""

from __future__ import annotations

from hlodb.queries.run import run_query
from tests.queries.stored import Connection, add

SPLITS = {
    "{replicated}": ("replicated", 1),
    "{mesh[], replicated}": ("replicated", 1),
    "{mesh['data'=1], replicated}": ("replicated", 1),
    "{maximal device=3}": ("maximal", 1),
    "{maximal_mesh[device_id=3]}": ("maximal", 1),
    "{devices=[4,1]<=[4]}": ("4x1", 4),
    "{devices=[2,1,2]<=[4] last_tile_dim_replicate}": ("2x1, 2 copies", 2),
    "{devices=[1,2]<=[2] metadata={op_name=\"a\"}}": ("1x2", 2),
    "{devices=[2,2,2]<=[8] last_tile_dims={manual}}": ("2x2, 2 copies", 4),
    "{mesh['a'=2,'b'=4], [{'b'}, {}]}": ("4x1, 2 copies", 4),
    "{mesh['a'=2,'b'=4], [{'a','b'}, {}]}": ("8x1", 8),
    "{mesh['a'=2,'b'=4], device_ids=([8]), [{'a'}, {'b':(1)2, ?}]}": (
        "2x2, 2 copies", 4,
    ),
}  # fmt: skip


def test_every_form_is_read(empty_warehouse: Connection) -> None:
    """Those that do not describe data are left out."""
    empty_warehouse.execute("BEGIN")
    try:
        for number, sharding in enumerate([*SPLITS, "{manual}", "{unknown}"]):
            add(
                empty_warehouse,
                "store.instruction_forms",
                form_id=number,
                opcode="parameter",
                sharding=sharding,
            )
        rows = run_query(empty_warehouse, "sharding_splits").rows
    finally:
        empty_warehouse.execute("ROLLBACK")
    assert {row[0]: row[1:] for row in rows} == SPLITS
