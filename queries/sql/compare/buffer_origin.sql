-- title: Pass that made each buffer of the peak
-- question: Which pass first made this buffer exist?
-- definition: Values that are live at the peak, of modules that were dumped
--   after passes (hlodb replay --passes). The value of a fusion is that of its
--   root. A snapshot has a buffer for it where the instruction is outside of a
--   fusion or is its result; instructions are found again by name, or by
--   opcode, op_name and dimensions. The origin is the first snapshot from
--   which on there always is a buffer. given: the program that was handed to
--   XLA has it. unfused: an earlier snapshot has it inside of a fusion alone,
--   so a fusion was undone. Otherwise pass_origins names what the pass does;
--   later: after the last snapshot of a pass, other: a pass without a rule.
-- grain: module occurrence, memory space, value
-- leading: program, space_name, instruction, owned_bytes, origin, pass,
--   pipeline, shape
-- param run
-- param program
-- param color
-- param top BIGINT = NULL from 0: At most this many values per module and
--   memory space; NULL for all, or for 20 where hlodb query prints a table.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction
-- column shape_index
-- column opcode
-- column kind
-- column shape
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the peak that it
--   owns.
-- column size_bytes
-- column origin VARCHAR name neutral: Why it exists: given, unfused, an origin
--   of pass_origins, later or other.
-- column pass VARCHAR name neutral: Pass that made it; NULL if given or later.
-- column pipeline VARCHAR name neutral: Pipeline of that pass.
-- column pass_step INTEGER count neutral: XLA's number of the first snapshot
--   that has it.
-- column was_fused BOOLEAN flag neutral: Whether an earlier snapshot has it
--   inside of a fusion alone.
-- column op_name
-- column path
WITH snapshots AS MATERIALIZED (
  SELECT
    d.*,
    dense_rank() OVER (
      ORDER BY d.rank, d.last_number, d.program, d.folder
    ) AS compilation
  FROM pass_snapshots() AS d
),
finals AS (
  SELECT m.*, s.compilation, s.snapshot AS last_snapshot
  FROM selected_memory() AS m
  JOIN snapshots AS s
    ON s.module_id = m.module_id
    AND s.path = m.path
  WHERE s.compilation IN (
    SELECT o.compilation FROM snapshots AS o WHERE o.stage = 'pass'
  )
),
peak AS MATERIALIZED (
  SELECT
    m.run, m.program, m.module_number, m.rank, m.occurrence, m.path, m.color,
    m.space_name, m.compilation, m.last_snapshot, m.module_id,
    v.live_peak_bytes, v.kind, v.shape, v.shape_index, v.owned_bytes,
    v.size_bytes, v.instruction_id,
    row_number() OVER (
      PARTITION BY m.occurrence, m.color
      ORDER BY v.owned_bytes DESC, v.allocation_id, v.value_id
    ) AS place
  FROM finals AS m
  JOIN peak_values() AS v USING (module_id, color)
  WHERE v.instruction_id IS NOT NULL
),
-- The instruction that computes the value: of a fusion, the one it returns.
computed AS MATERIALIZED (
  SELECT
    p.place, p.occurrence, p.color AS space_color, p.compilation,
    p.last_snapshot, i.name AS instruction, f.opcode, f.op_name,
    s.name AS source, g.opcode AS source_opcode, g.op_name AS source_op_name,
    split_part(g.shape, '{', 1) AS dimensions
  FROM peak AS p
  JOIN store.instructions AS i
    ON i.module_id = p.module_id
    AND i.instruction_id = p.instruction_id
  JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN called_computations AS c
    ON f.opcode = 'fusion'
    AND c.module_id = p.module_id
    AND c.instruction_id = p.instruction_id
  LEFT JOIN computations AS k
    ON k.module_id = c.module_id
    AND k.computation_id = c.computation_id
  LEFT JOIN returned_operands() AS o
    ON o.module_id = k.module_id
    AND o.computation_id = k.computation_id
    AND o.operand_index = TRY_CAST(trim(p.shape_index, '{}') AS INTEGER)
  LEFT JOIN store.instructions AS s
    ON s.module_id = p.module_id
    AND s.instruction_id
      = coalesce(o.operand_id, k.root_instruction_id, p.instruction_id)
  LEFT JOIN store.instruction_forms AS g ON g.form_id = s.form_id
),
wanted AS MATERIALIZED (
  SELECT DISTINCT
    c.compilation, c.last_snapshot, c.instruction, c.source, c.source_opcode,
    c.source_op_name, c.dimensions
  FROM computed AS c
  WHERE c.opcode <> 'parameter'
),
-- Where each of them is in the snapshots that have it.
written AS MATERIALIZED (
  SELECT
    s.compilation, s.snapshot, i.name, f.opcode, f.op_name,
    split_part(f.shape, '{', 1) AS dimensions,
    c.kind <> 'fusion' OR i.is_root OR o.operand_id IS NOT NULL AS is_apart
  FROM snapshots AS s
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  LEFT JOIN (
    SELECT DISTINCT r.module_id, r.operand_id FROM returned_operands() AS r
  ) AS o
    ON o.module_id = i.module_id
    AND o.operand_id = i.instruction_id
  WHERE s.compilation IN (SELECT w.compilation FROM wanted AS w)
),
present AS (
  SELECT n.compilation, n.instruction, n.source, w.snapshot, w.is_apart
  FROM wanted AS n
  JOIN written AS w
    ON w.compilation = n.compilation
    AND w.name = n.source
  UNION ALL
  SELECT n.compilation, n.instruction, n.source, w.snapshot, w.is_apart
  FROM wanted AS n
  JOIN written AS w
    ON w.compilation = n.compilation
    AND w.name = n.instruction
  WHERE n.source <> n.instruction
  UNION ALL
  SELECT n.compilation, n.instruction, n.source, w.snapshot, w.is_apart
  FROM wanted AS n
  JOIN written AS w
    ON w.compilation = n.compilation
    AND w.opcode = n.source_opcode
    AND w.op_name = n.source_op_name
    AND w.dimensions = n.dimensions
),
seen AS (
  SELECT
    p.compilation, p.instruction, p.source, p.snapshot,
    bool_or(p.is_apart) AS is_apart
  FROM present AS p
  GROUP BY p.compilation, p.instruction, p.source, p.snapshot
),
origins AS (
  SELECT
    n.compilation, n.instruction, n.source,
    coalesce(
      max(s.snapshot) FILTER (WHERE p.is_apart IS NOT TRUE), -1
    ) + 1 AS first_snapshot,
    coalesce(bool_or(NOT p.is_apart), FALSE) AS was_fused
  FROM wanted AS n
  JOIN snapshots AS s
    ON s.compilation = n.compilation
    AND s.snapshot <= n.last_snapshot
  LEFT JOIN seen AS p
    ON p.compilation = n.compilation
    AND p.instruction = n.instruction
    AND p.source = n.source
    AND p.snapshot = s.snapshot
  GROUP BY n.compilation, n.instruction, n.source
),
explained AS (
  SELECT
    o.*, s.stage, s.pass_after, s.pipeline, s.pass_step,
    (
      SELECT min_by(r.origin, r.place)
      FROM pass_origins() AS r
      WHERE regexp_matches(lower(s.pass_after), r.pass_pattern)
    ) AS ruled
  FROM origins AS o
  JOIN snapshots AS s
    ON s.compilation = o.compilation
    AND s.snapshot = o.first_snapshot
)
SELECT
  p.run, p.program, p.module_number, p.rank, p.color, p.space_name,
  c.instruction, p.shape_index, c.opcode, p.kind, p.shape, p.owned_bytes,
  p.size_bytes,
  CASE
    WHEN coalesce(e.first_snapshot, 0) = 0 THEN 'given'
    WHEN e.was_fused THEN 'unfused'
    WHEN e.stage <> 'pass' THEN 'later'
    ELSE coalesce(e.ruled, 'other')
  END AS origin,
  CASE WHEN e.first_snapshot > 0 THEN e.pass_after END AS pass,
  CASE WHEN e.first_snapshot > 0 THEN e.pipeline END AS pipeline,
  e.pass_step, coalesce(e.was_fused, FALSE) AS was_fused, c.op_name, p.path
FROM peak AS p
JOIN computed AS c
  ON c.occurrence = p.occurrence
  AND c.space_color = p.color
  AND c.place = p.place
LEFT JOIN explained AS e
  ON e.compilation = c.compilation
  AND e.instruction = c.instruction
  AND e.source = c.source
WHERE $top IS NULL
  OR p.place <= $top
ORDER BY
  p.live_peak_bytes DESC, p.program, p.module_number, p.rank, p.occurrence,
  p.color, p.place
