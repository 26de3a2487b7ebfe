-- title: Memory of loops
-- question: How much memory do loops carry from one iteration to the next, and
--   how much more do their bodies need?
-- definition: Per while loop and memory space: carry_bytes is the memory of
--   the carried values (distinct places in allocations of the values in the
--   while's result, without tables of pointers). body_peak_bytes is the most
--   live bytes of the memory space at the steps of the body, body_extra_bytes
--   the distance from the least to the most there. stacked_bytes are carried
--   arrays whose first dimension is the trip count, that is, results kept for
--   every iteration; NULL if the trip count is unknown.
-- grain: module occurrence, while instruction, memory space
-- leading: program, space_name, instruction, carry_bytes, body_peak_bytes,
--   trip_count, stacked_bytes, body_extra_bytes
-- split: programs
-- param run
-- param program
-- param color
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction VARCHAR name neutral: The while instruction.
-- column trip_count BIGINT count neutral: Number of iterations; NULL if
--   unknown.
-- column trip_count_from VARCHAR name neutral: Source of trip_count:
--   backend_config, or the loop's condition; NULL if unknown.
-- column carry_bytes BIGINT bytes lower_is_better: Memory of the carried
--   values.
-- column stacked_bytes BIGINT bytes lower_is_better: Arrays that keep a part
--   for every iteration; NULL if the trip count is unknown.
-- column body_peak_bytes BIGINT bytes lower_is_better: Most live bytes in the
--   body.
-- column body_extra_bytes BIGINT bytes lower_is_better: Most minus least live
--   bytes in the body.
-- column body_from_step INTEGER step neutral: First step of the body.
-- column body_to_step INTEGER step neutral: Last step of the body.
-- column op_name
WITH looped AS MATERIALIZED (
  SELECT * FROM loops()
),
carried AS (
  SELECT DISTINCT
    w.module_id, w.instruction_id, v.color AS space_color, v.allocation_id,
    v.offset_bytes, v.size_bytes,
    regexp_extract(v.shape, '\[([0-9]+)', 1) = CAST(w.trip_count AS VARCHAR)
      AS is_stacked
  FROM looped AS w
  JOIN store.value_positions AS p USING (module_id, instruction_id)
  JOIN placed_values() AS v
    ON v.module_id = p.module_id
    AND v.value_id = p.value_id
  WHERE v.shape NOT LIKE '(%'
),
carry AS (
  SELECT
    module_id, instruction_id, space_color, sum(size_bytes) AS carry_bytes,
    coalesce(sum(size_bytes) FILTER (WHERE is_stacked), 0) AS stacked_bytes
  FROM carried
  GROUP BY module_id, instruction_id, space_color
),
curves AS (
  SELECT
    w.module_id, w.instruction_id, t.color AS space_color,
    max(t.live_bytes) AS body_peak_bytes, min(t.live_bytes) AS body_least_bytes
  FROM looped AS w
  JOIN memory_timeline AS t
    ON t.module_id = w.module_id
    AND t.from_step <= w.body_to_step
    AND t.to_step >= w.body_from_step
  GROUP BY w.module_id, w.instruction_id, t.color
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  w.instruction,
  w.trip_count, w.trip_count_from,
  CAST(coalesce(c.carry_bytes, 0) AS BIGINT) AS carry_bytes,
  CASE WHEN w.trip_count IS NOT NULL
    THEN CAST(coalesce(c.stacked_bytes, 0) AS BIGINT) END AS stacked_bytes,
  k.body_peak_bytes,
  k.body_peak_bytes - k.body_least_bytes AS body_extra_bytes, w.body_from_step,
  w.body_to_step, i.op_name
FROM selected_memory() AS m
JOIN looped AS w USING (module_id)
JOIN curves AS k
  ON k.module_id = w.module_id
  AND k.instruction_id = w.instruction_id
  AND k.space_color = m.color
LEFT JOIN carry AS c
  ON c.module_id = w.module_id
  AND c.instruction_id = w.instruction_id
  AND c.space_color = m.color
LEFT JOIN selected_instructions() AS i
  ON i.module_id = w.module_id
  AND i.instruction_id = w.instruction_id
ORDER BY
  carry_bytes DESC, m.program, m.module_number, m.rank, m.color,
  w.instruction_id
