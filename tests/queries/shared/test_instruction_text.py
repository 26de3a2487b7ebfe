"""What is read from the text of an instruction: paths, phases, groups, roles."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.ingest.dumps import write
from tests.occurrences import store_modules

Connection = duckdb.DuckDBPyConnection
MOVED = ("operand_bytes", "payload_bytes", "wire_bytes")


def store_instruction(
    connection: Connection, opcode: str, **form: str | int | None
) -> None:
    """Store a module of four partitions with one instruction."""
    connection.execute("INSERT INTO runs BY NAME SELECT 1 AS run_id, 'run' AS name")
    module = {"run_id": 1, "module_id": 1, "path": "m", "part": 0, "program": "jit_f"}
    store_modules(connection, [module | {"num_partitions": 4, "replica_count": 2}])
    named = "".join(f", ? AS {name}" for name in form)
    connection.execute(
        "INSERT INTO store.instruction_forms BY NAME"
        f" SELECT 1 AS form_id, ? AS opcode{named}",
        [opcode, *form.values()],
    )
    connection.execute(
        "INSERT INTO store.instructions BY NAME SELECT 1 AS module_id, 0 AS"
        " instruction_id, 1 AS form_id, 'i' AS name"
    )


@pytest.mark.parametrize(
    ("op_name", "op_path", "phase"),
    [
        ("jit(f)/layer_12/dot", "jit(f)/layer_*/dot", "other"),
        ("functional_1/up_0_1/MatMul_1", "functional_*/up_*/MatMul_*", "other"),
        ("jit(f)/layers.3/mlp.0/add", "jit(f)/layers.*/mlp.*/add", "other"),
        ("params['blocks'][7]['w']", "params['blocks'][*]['w']", "other"),
        ("jit(f)/jvp(layer_0)/tanh", "jit(f)/jvp(layer_*)/tanh", "forward"),
        (
            "jit(f)/transpose(jvp(layer_1))/mul",
            "jit(f)/transpose(jvp(layer_*))/mul",
            "backward",
        ),
        ("jit(f)/adamw/mul", "jit(f)/adamw/mul", "optimiser"),
        ("rmsprop/Square_3", "rmsprop/Square_*", "optimiser"),
        ("jit(f)/apply_updates/add", "jit(f)/apply_updates/add", "optimiser"),
        ("jit(f)/conv2d/add", "jit(f)/conv2d/add", "other"),
        ("jit(f)/dynamic_update_slice", "jit(f)/dynamic_update_slice", "other"),
        (
            "jit(f)/adam/dynamic_update_slice",
            "jit(f)/adam/dynamic_update_slice",
            "optimiser",
        ),
        ("", "", "none"),
    ],
)
def test_path_and_phase(
    warehouse: Connection, op_name: str, op_path: str, phase: str
) -> None:
    store_instruction(warehouse, "add", op_name=op_name)
    rows = warehouse.execute("SELECT op_path, phase FROM op_paths()").fetchall()
    assert rows == [(op_path, phase)]


@pytest.mark.parametrize(
    ("op_name", "role"),
    [
        ("opt_state[0].mu['params']['w']", "optimiser_state"),
        ("state.opt_state[0].nu['w']", "optimiser_state"),
        ("m['w']", "optimiser_state"),
        ("params['attention']['v']", "weights"),
        ("state.params['attention']['v']['kernel']", "weights"),
        ("cache['k']", "caches"),
        ("cache['v']", "caches"),
        ("kv_cache[3].v", "caches"),
        ("variables['cache']['layer_0']['cached_key']", "caches"),
        ("past_key_values[0][1]", "caches"),
    ],
)
def test_roles_of_arguments(warehouse: Connection, op_name: str, role: str) -> None:
    (row,) = warehouse.execute(
        "SELECT arg_min(role, place) FROM role_rules() WHERE kind = 'parameter'"
        " AND NOT coalesce(is_donated, FALSE)"
        " AND regexp_matches(lower($1), coalesce(name_pattern, ''))",
        [op_name],
    ).fetchall()
    assert row == (role,)


@pytest.mark.parametrize(
    ("printed", "groups", "size"),
    [
        ("{{0,1},{2,3}}", 2, 2),
        ("{{0, 1, 2}, {3}}", 2, 3),
        ("{{0},{1},{2},{3}}", 4, 1),
        ("{}", 1, 8),
        ("[2,4]<=[8]", 2, 4),
        ("[4,2]<=[2,4]T(1,0)", 4, 2),
        ("mesh['x'=2,'y'=4] {'y'}", 2, 4),
        ("mesh['x'=2,'y'=4] {'x','y'}", 1, 8),
        ("mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'y'}", 2, 4),
        ("mesh['x'=2,'y'=4] {'y':(1)2}", 4, 2),
    ],
)
def test_every_spelling_of_replica_groups(
    warehouse: Connection, printed: str, groups: int, size: int
) -> None:
    store_instruction(warehouse, "all-reduce", replica_groups=printed)
    rows = warehouse.execute(
        "SELECT group_count, group_size FROM replica_groups()"
    ).fetchall()
    assert rows == [(groups, size)]


@pytest.mark.parametrize(
    ("printed", "listed"),
    [
        ("{{4, 5}, {0,1}}", "{{0,1},{4,5}}"),
        ("{{1,0}}", "{{1,0}}"),
        ("{}", "{}"),
        ("[2,4]<=[8]", "{{0,1,2,3},{4,5,6,7}}"),
        ("[4,2]<=[2,4]T(1,0)", "{{0,4},{1,5},{2,6},{3,7}}"),
        ("[2,4]<=[2,2,2]T(1,0,2)", "{{0,1,4,5},{2,3,6,7}}"),
        ("[1,6]<=[2,3]T(1,0)", "{{0,3,1,4,2,5}}"),
        ("mesh['x'=2,'y'=4] {'y'}", "{{0,1,2,3},{4,5,6,7}}"),
        ("mesh['x'=2,'y'=4] {'x'}", "{{0,4},{1,5},{2,6},{3,7}}"),
        ("mesh['x'=2,'y'=2] {'y','x'}", "{{0,2,1,3}}"),
        ("mesh['y'=8] {'y':(2)2}", "{{0,2},{1,3},{4,6},{5,7}}"),
        ("mesh['y'=4] {'y':(1)2}", "{{0,2},{1,3}}"),
        ("mesh['x'=2,'y'=2], device_ids=(3,1,2,0) {'y'}", "{{2,0},{3,1}}"),
        (
            "mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'y'}",
            "{{0,2,4,6},{1,3,5,7}}",
        ),
        ("[999999999999,999999999999]<=[9]", "[999999999999,999999999999]<=[9]"),
        ("mesh['x'=2] {'z'}", "mesh['x'=2]{'z'}"),
        ("[2,2]<=[2,2]T(1,1)", "[2,2]<=[2,2]T(1,1)"),
    ],
)
def test_devices_of_replica_groups(
    warehouse: Connection, printed: str, listed: str
) -> None:
    store_instruction(warehouse, "all-reduce", replica_groups=printed)
    rows = warehouse.execute("FROM device_groups()").fetchall()
    assert rows == [(printed, listed)]


@pytest.mark.parametrize(
    ("pairs", "groups", "size"),
    [
        ("{{0,1},{1,2},{2,3},{3,0}}", 1, 4),
        ("{{0,4},{4,0},{1,5},{5,1},{2,6},{6,2},{3,7},{7,3}}", 4, 2),
        ("{{0,3},{1,2},{2,1},{3,0}}", 2, 2),
        ("{{0,1},{1,2},{4,5}}", 2, 3),
        ("{{0,0},{1,2},{2,1},{3,3}}", 3, 2),
        ("{{0, 2}, {2, 0}, {1, 2}}", 1, 3),
        ("{}", 1, 8),
    ],
)
def test_groups_of_a_permutation_are_what_its_pairs_connect(
    warehouse: Connection, pairs: str, groups: int, size: int
) -> None:
    attributes = f"source_target_pairs={pairs}, metadata={{}}"
    store_instruction(warehouse, "collective-permute-start", attributes=attributes)
    rows = warehouse.execute(
        "SELECT group_count, group_size FROM replica_groups()"
    ).fetchall()
    assert rows == [(groups, size)]


def test_what_collectives_move(tmp_path: Path) -> None:
    """Worked out by hand: f32[32,64] on each of 8 devices, in rows of 4 or pairs."""
    path, part = tmp_path / "w.duckdb", 32 * 64 * 4
    ingest([str(DATA / "passes" / "jit_ring.tar.xz")], path, jobs=1)
    columns = ("opcode", "group_count", "group_size", *MOVED)
    with connect(path) as connection:
        rows = run_query(connection, "collective_inventory").dicts()
    assert sorted(tuple(row[name] for name in columns) for row in rows) == [
        ("all-gather", 2, 4, part, 4 * part, 3 * part),
        ("all-reduce", 4, 2, part, part, part),
        ("all-to-all", 2, 4, part, part, part * 3 // 4),
        ("collective-permute", 4, 2, part, part, part),
        ("reduce-scatter", 2, 4, 4 * part, 4 * part, 3 * part),
    ]


RAGGED = """\
HloModule jit_f, replica_count=4

ENTRY %main (p: f32[8], q: f32[16], o: s64[4]) -> f32[16] {
  %p = f32[8]{0} parameter(0)
  %q = f32[16]{0} parameter(1)
  %o = s64[4]{0} parameter(2)
  %own = f32[8]{0} collective-permute(%p), source_target_pairs={{0,0},{1,1}}
  ROOT %r = f32[16]{0} ragged-all-to-all(%own, %q, %o, %o, %o, %o), \
replica_groups={{0,1,2,3}}
}
"""


def test_what_is_no_data_or_stays_is_not_moved(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    text = {"module_0001.jit_f.after_optimizations.txt": RAGGED.encode()}
    ingest([str(write(tmp_path / "dump", text))], path, jobs=1)
    with connect(path) as connection:
        rows = run_query(connection, "collective_inventory").dicts()
    assert {row["opcode"]: tuple(row[name] for name in MOVED) for row in rows} == {
        "collective-permute": (32, 32, 0),
        "ragged-all-to-all": (32 + 64 + 4 * 32, 32, 24),
    }


# --- Roles --------------------------------------------------------------------------

RULES = """\
-- title: Our rules
-- question: Which roles do we tell apart?
-- definition: A table of rules.
-- grain: rule
-- column place BIGINT id neutral: Order of the rule.
-- column rule_id VARCHAR name neutral: Its name.
-- column role VARCHAR name neutral: The role it gives.
-- column kind VARCHAR name neutral: Kind of allocation.
-- column is_donated BOOLEAN flag neutral: Updated in place.
-- column name_pattern VARCHAR text neutral: Regular expression on op_name.
-- column opcode_pattern VARCHAR text neutral: Regular expression on the opcode.
-- column made_in VARCHAR name neutral: Phase it is made in.
-- column last_read_in VARCHAR name neutral: Phase it is last read in.
-- column is_gathered BOOLEAN flag neutral: Gathered.
SELECT
  CAST(1 AS BIGINT) AS place, 'ours' AS rule_id, 'held' AS role,
  'parameter' AS kind, CAST(NULL AS BOOLEAN) AS is_donated,
  CAST(NULL AS VARCHAR) AS name_pattern, CAST(NULL AS VARCHAR) AS opcode_pattern,
  CAST(NULL AS VARCHAR) AS made_in, CAST(NULL AS VARCHAR) AS last_read_in,
  CAST(NULL AS BOOLEAN) AS is_gathered
"""


@pytest.mark.parametrize(
    ("target", "shape", "result_bytes", "workspace_bytes"),
    [
        ("Eigh", "(f32[8,8], f32[8])", 288, None),
        ("__cublas$gemm", "f32[8,8]", 256, None),
        ("__cublas$gemm", "(f32[8], s8[0])", 32, 0),
        ("__cublas$lt$matmul", "(s8[8,8], s8[4096]{0})", 64 + 4096, 4096),
        ("ours", "(s8[8,8], s8[4096]{0})", 64 + 4096, None),
        ("__cudnn$conv", "(f32[8], (u8[16], u8[2,3]), u8[])", 55, 23),
    ],
)
def test_workspace_of_a_custom_call_is_what_its_shape_tells(
    warehouse: Connection,
    target: str,
    shape: str,
    result_bytes: int,
    workspace_bytes: int | None,
) -> None:
    """Bytes with a sign may be results of others; without any element none is known."""
    element = "tuple" if shape.startswith("(") else "f32"
    form = {"element_type": element, "custom_call_target": target}
    logical = None if element == "tuple" else result_bytes
    store_instruction(
        warehouse, "custom-call", shape=shape, logical_bytes=logical, **form
    )
    rows = warehouse.execute(
        "SELECT result_bytes, workspace_bytes, max_workspace_bytes"
        " FROM custom_call_inventory()"
    ).fetchall()
    assert rows == [(result_bytes, workspace_bytes, workspace_bytes)]


def test_workspace_takes_what_the_buffer_assignment_says(reading: Connection) -> None:
    asked: dict[str, Value] = {"run": "jaxlib-0.4.30"}
    rows = run_query(reading, "custom_call_inventory", asked).dicts()
    found = {
        (row["program"], row["module_number"]): row["workspace_bytes"]
        for row in rows
        if row["custom_call_target"] == "__onednn$matmul"
    }
    assigned = reading.execute(
        "SELECT m.program, m.module_number, CAST(sum(v.logical_bytes) AS BIGINT)"
        " FROM modules AS m JOIN runs USING (run_id)"
        " JOIN instructions AS i USING (module_id)"
        ' JOIN "values" AS v USING (module_id, instruction_id)'
        " WHERE runs.name = 'jaxlib-0.4.30' AND v.shape LIKE 'u8[%'"
        " AND i.custom_call_target = '__onednn$matmul' GROUP BY ALL"
    ).fetchall()
    assert found == {(program, number): size for program, number, size in assigned}
    assert len(found) == 5


@pytest.mark.slow
def test_a_users_rules_give_the_roles(reading: Connection, tmp_path: Path) -> None:
    """What no rule takes is unclassified; roles share the whole peak."""
    (tmp_path / "role_rules.sql").write_text(RULES)
    asked = {"run": "jaxlib-0.10.2", "program": "jit_cnn"}
    catalogue = load_catalogue([tmp_path])
    rows = run_query(reading, "peak_by_role", asked, catalogue).dicts()
    assert {(row["role"], row["rule_id"]) for row in rows} == {
        ("held", "ours"),
        ("held", "copy_of_ours"),
        ("unclassified", None),
    }
    assert sum(row["peak_ratio"] for row in rows) == pytest.approx(1)
    built_in = run_query(reading, "peak_by_role", asked).dicts()
    owned = [sum(row["owned_bytes"] for row in each) for each in (rows, built_in)]
    assert owned[0] == owned[1] > 0
    assert {"weights", "activations"} < {row["role"] for row in built_in}
