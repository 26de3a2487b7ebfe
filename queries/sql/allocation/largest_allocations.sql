-- title: Largest allocations
-- question: Which allocations are the largest, and which values are in them?
-- definition: Allocations of every module, the largest first.
--   largest_instruction defines the largest value in the allocation (the
--   lowest value_id among equals).
-- grain: module occurrence, allocation
-- leading: program, space_name, allocation_id, size_bytes, kind, space_ratio,
--   largest_instruction, value_count
-- param run
-- param program
-- param color
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column allocation_id
-- column kind
-- column size_bytes BIGINT bytes lower_is_better: Size of the allocation.
-- column space_ratio DOUBLE ratio neutral: Share of the bytes that the module
--   reserves in the memory space.
-- column parameter_number INTEGER id neutral: Entry parameter that it holds.
-- column is_live_out BOOLEAN flag neutral: Whether it may outlive the program.
-- column value_count BIGINT count neutral: Values placed in it.
-- column value_bytes BIGINT bytes neutral: Sum of their sizes; exceeds
--   size_bytes if they share it over time.
-- column largest_instruction VARCHAR name neutral: Instruction of the largest
--   value.
-- column largest_op_name VARCHAR name neutral: Framework path of that
--   instruction.
-- column shape VARCHAR text neutral: Shape of the parameter or result, or else
--   of the largest value.
WITH ranked AS (
  SELECT
    v.*,
    row_number() OVER (
      PARTITION BY v.module_id, v.allocation_id
      ORDER BY v.size_bytes DESC, v.value_id
    ) AS place,
    count(*) OVER (PARTITION BY v.module_id, v.allocation_id) AS value_count,
    sum(v.size_bytes) OVER (
      PARTITION BY v.module_id, v.allocation_id
    ) AS value_bytes
  FROM placed_values() AS v
),
totals AS (
  SELECT module_id, allocations.color AS space_color,
    sum(size_bytes) AS space_bytes
  FROM allocations
  GROUP BY module_id, allocations.color
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  a.allocation_id, a.kind, a.size_bytes,
  a.size_bytes / nullif(t.space_bytes, 0) AS space_ratio,
  a.parameter_number, a.is_live_out,
  coalesce(r.value_count, 0) AS value_count,
  CAST(coalesce(r.value_bytes, 0) AS BIGINT) AS value_bytes,
  r.instruction AS largest_instruction, i.op_name AS largest_op_name,
  coalesce(a.shape, r.shape) AS shape
FROM selected_memory() AS m
JOIN allocations AS a USING (module_id, color)
JOIN totals AS t
  ON t.module_id = a.module_id
  AND t.space_color = a.color
LEFT JOIN ranked AS r
  ON r.module_id = a.module_id
  AND r.allocation_id = a.allocation_id
  AND r.place = 1
LEFT JOIN selected_instructions() AS i
  ON i.module_id = r.module_id
  AND i.instruction_id = r.instruction_id
ORDER BY
  a.size_bytes DESC, m.program, m.module_number, m.rank, a.allocation_id
LIMIT $top
