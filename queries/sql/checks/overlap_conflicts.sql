-- title: Overlapping values
-- question: Which values use the same bytes although both are live?
-- definition: Pairs of values of one allocation that overlap in address and in
--   time. conflict: their ranges overlap strictly (a.start < b.end and b.start
--   < a.end). A sound dump has none, except for values that a conditional
--   reads (check_overlaps); modules with only such pairs have no row.
--   in_place: the ranges touch at one step only; shown with in_place := true.
--   Thread-local allocations are left out.
-- grain: module occurrence, pair of values
-- leading: program, space_name, verdict, allocation_id, instruction,
--   other_instruction, overlap_bytes
-- split: programs
-- param run
-- param program
-- param color
-- param in_place BOOLEAN = false: Show also pairs that share bytes in place.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column verdict VARCHAR name neutral: conflict or in_place.
-- column allocation_id
-- column instruction VARCHAR name neutral: Instruction of the value that
--   starts first.
-- column shape_index
-- column other_instruction VARCHAR name neutral: Instruction of the other
--   value.
-- column other_shape_index VARCHAR name neutral: Index into its result.
-- column overlap_bytes BIGINT bytes neutral: Bytes they share.
-- column from_step INTEGER step neutral: First step at which both are live.
-- column to_step INTEGER step neutral: Last step at which both are live.
WITH tenants AS (
  SELECT *
  FROM placed_values()
  WHERE kind <> 'thread_local'
    AND start_step IS NOT NULL
    AND size_bytes > 0
),
suspects AS (
  SELECT t.*
  FROM tenants AS t
  JOIN memory_profile AS p
    ON p.module_id = t.module_id
    AND p.color = t.color
  WHERE coalesce(p.conflict_count, 1) > 0
),
conflicts AS (
  SELECT
    a.module_id, a.allocation_id, a.value_id, b.value_id AS other_id,
    'conflict' AS verdict
  FROM suspects AS a
  JOIN suspects AS b
    ON b.module_id = a.module_id
    AND b.allocation_id = a.allocation_id
  WHERE (a.start_step, a.value_id) < (b.start_step, b.value_id)
    AND a.start_step < b.end_step
    AND b.start_step < a.end_step
    AND a.offset_bytes < b.offset_bytes + b.size_bytes
    AND b.offset_bytes < a.offset_bytes + a.size_bytes
),
touches AS (
  SELECT DISTINCT
    a.module_id, a.allocation_id,
    CASE WHEN (a.start_step, a.value_id) < (b.start_step, b.value_id)
      THEN a.value_id ELSE b.value_id END AS value_id,
    CASE WHEN (a.start_step, a.value_id) < (b.start_step, b.value_id)
      THEN b.value_id ELSE a.value_id END AS other_id,
    'in_place' AS verdict
  FROM tenants AS a
  JOIN tenants AS b
    ON b.module_id = a.module_id
    AND b.allocation_id = a.allocation_id
    AND b.start_step = a.end_step
  WHERE $in_place
    AND a.value_id <> b.value_id
    AND a.offset_bytes < b.offset_bytes + b.size_bytes
    AND b.offset_bytes < a.offset_bytes + a.size_bytes
),
found AS MATERIALIZED (
  SELECT * FROM conflicts
  UNION ALL
  SELECT * FROM touches
),
pairs AS (
  SELECT
    f.module_id, a.color AS space_color, f.allocation_id, a.instruction,
    a.shape_index, f.value_id, f.other_id, b.instruction AS other_instruction,
    b.shape_index AS other_shape_index, f.verdict,
    least(a.offset_bytes + a.size_bytes, b.offset_bytes + b.size_bytes)
      - greatest(a.offset_bytes, b.offset_bytes) AS overlap_bytes,
    greatest(a.start_step, b.start_step) AS from_step,
    least(a.end_step, b.end_step) AS to_step
  FROM found AS f
  JOIN tenants AS a USING (module_id, allocation_id, value_id)
  JOIN tenants AS b
    ON b.module_id = f.module_id
    AND b.allocation_id = f.allocation_id
    AND b.value_id = f.other_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name, p.verdict,
  p.allocation_id, p.instruction, p.shape_index, p.other_instruction,
  p.other_shape_index, p.overlap_bytes, p.from_step, p.to_step
FROM selected_memory() AS m
JOIN pairs AS p
  ON p.module_id = m.module_id
  AND p.space_color = m.color
ORDER BY
  p.verdict, p.overlap_bytes DESC, m.program, m.module_number, m.rank,
  p.allocation_id, p.value_id, p.other_id
