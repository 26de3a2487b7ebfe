-- title: Buffers of pairs of modules
-- question: Which buffers fill the memory of two modules, and which others may
--   correspond to them?
-- definition: Rows with is_counted fill the memory: all allocations but
--   temporaries as a whole, and of the temporaries the values that are live at
--   the first step with the most live temporary bytes of their memory space.
--   Bytes that values share in place belong to the newest (greatest
--   start_step, then value_id). The other rows are values like a counted one
--   of either side, with equal op_path (or else opcode) and dimensions. With
--   arenas: the values of these allocations; the `most` values with the
--   greatest bytes times steps are counted.
-- grain: pair of modules, side, buffer
-- steps: asked_sides, asked_contents, described_values, main_values,
--   owned_at_peak
-- param base_ids BIGINT[] = NULL: Module contents of the base; NULL for none.
-- param candidate_ids BIGINT[] = NULL: Module contents of the candidate, in
--   the same order.
-- param base_arenas BIGINT[] = NULL from 0: Allocations of the base to compare
--   instead, in the same order; NULL for all memory.
-- param candidate_arenas BIGINT[] = NULL from 0: Allocations of the candidate,
--   in the same order.
-- param most BIGINT = 250 from 0: Values of an arena that are counted.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column is_candidate BOOLEAN flag neutral: Which side.
-- column place BIGINT id neutral: Position among the buffers of its side, in
--   order of definition.
-- column module_id
-- column color
-- column kind
-- column allocation_id
-- column value_id
-- column instruction
-- column opcode
-- column op_path VARCHAR name neutral: Framework path without the names of the
--   jitted functions around it.
-- column array_type VARCHAR text neutral: Shape without layout.
-- column shape_index
-- column parameter VARCHAR name neutral: Number and index, such as 3{0}.
-- column offset_bytes
-- column size_bytes
-- column logical_bytes
-- column start_step
-- column end_step
-- column is_counted BOOLEAN flag neutral: Whether it fills the memory.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes that it owns; NULL if
--   it is not counted, and for arenas.
WITH asked AS (
  SELECT count(arena_id) > 0 AS is_of_arenas FROM asked_sides
),
whole_allocations AS (
  SELECT
    a.module_id, a.allocation_id, a.color AS space_color, a.kind, p.value_id,
    p.instruction, p.opcode, p.op_path,
    coalesce(
      p.array_type, regexp_replace(a.shape, '\{[^}]*\}', '', 'g')
    ) AS array_type,
    p.shape_index, 0 AS offset_bytes, a.size_bytes, p.logical_bytes,
    p.start_step, p.end_step, p.likeness, TRUE AS is_counted,
    a.size_bytes AS owned_bytes,
    nullif(
      a.parameter_number || coalesce(a.parameter_shape_index, '{}'), ''
    ) AS parameter
  FROM asked_contents
  JOIN allocations AS a USING (module_id)
  LEFT JOIN main_values AS p
    ON p.module_id = a.module_id
    AND p.allocation_id = a.allocation_id
  WHERE a.kind <> 'temp'
),
arena_values AS (
  SELECT
    d.module_id, d.allocation_id, d.space_color, d.kind, d.value_id,
    d.instruction, d.opcode, d.op_path, d.array_type, d.shape_index,
    d.offset_bytes, d.size_bytes, d.logical_bytes, d.start_step, d.end_step,
    d.likeness, d.is_live AS is_counted,
    CASE WHEN d.is_live THEN coalesce(o.owned_bytes, 0) END AS owned_bytes,
    NULL AS parameter
  FROM described_values AS d
  LEFT JOIN owned_at_peak AS o
    ON o.module_id = d.module_id
    AND o.allocation_id = d.allocation_id
    AND o.value_id = d.value_id
  ANTI JOIN main_values AS p
    ON p.module_id = d.module_id
    AND p.value_id = d.value_id
    AND p.allocation_id = d.allocation_id
  WHERE d.kind <> 'thread_local'
),
filling AS (
  SELECT s.pair, s.is_candidate, b.*
  FROM (FROM whole_allocations UNION ALL BY NAME FROM arena_values) AS b
  JOIN asked_sides AS s USING (module_id)
  WHERE NOT (SELECT a.is_of_arenas FROM asked AS a)
  UNION ALL BY NAME
  SELECT
    s.pair, s.is_candidate,
    d.* EXCLUDE (is_live),
    row_number() OVER (
      PARTITION BY s.pair, s.is_candidate
      ORDER BY
        CAST(d.size_bytes AS HUGEINT) * (d.end_step - d.start_step + 1) DESC,
        d.start_step, d.offset_bytes, d.value_id
    ) <= $most AS is_counted
  FROM asked_sides AS s
  JOIN described_values AS d
    ON d.module_id = s.module_id
    AND d.allocation_id = s.arena_id
  WHERE (SELECT a.is_of_arenas FROM asked AS a)
    AND d.size_bytes > 0
    AND d.start_step IS NOT NULL
),
looked_for AS (
  SELECT DISTINCT f.pair, f.likeness
  FROM filling AS f
  WHERE f.is_counted
)
SELECT
  f.pair, f.is_candidate,
  row_number() OVER (
    PARTITION BY f.pair, f.is_candidate
    ORDER BY
      coalesce(f.start_step, -1), f.allocation_id, f.offset_bytes,
      coalesce(f.value_id, -1), f.kind
  ) AS place,
  f.module_id, f.space_color AS color, f.kind, f.allocation_id, f.value_id,
  f.instruction, f.opcode, f.op_path, f.array_type, f.shape_index,
  f.parameter, CAST(f.offset_bytes AS BIGINT) AS offset_bytes, f.size_bytes,
  f.logical_bytes, f.start_step, f.end_step, f.is_counted,
  CAST(f.owned_bytes AS BIGINT) AS owned_bytes
FROM filling AS f
LEFT JOIN looked_for AS l
  ON l.pair = f.pair
  AND l.likeness = f.likeness
WHERE f.is_counted
  OR l.pair IS NOT NULL
