-- title: Loops
-- question: Which while loops are there, and how many iterations do they run?
-- definition: while instructions in the last snapshot of every module, with
--   their body. trip_count is known_trip_count of the backend_config, or else
--   the result of counted_loops (TPU compilers and older releases print none);
--   NULL if unknown. Steps are those of the body's own instructions in the
--   flattened schedule.
-- grain: module content, while instruction
-- param run
-- param program
-- column module_id
-- column instruction_id
-- column instruction VARCHAR name neutral: The while instruction.
-- column body_id INTEGER id neutral: computation_id of its body.
-- column trip_count BIGINT count neutral: Number of iterations; NULL if
--   unknown.
-- column trip_count_from VARCHAR name neutral: Source of trip_count:
--   backend_config, or the loop's condition; NULL if unknown.
-- column body_from_step INTEGER step neutral: First step of the body.
-- column body_to_step INTEGER step neutral: Last step of the body.
WITH whiles AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name,
    TRY_CAST(regexp_extract(
      f.backend_config, '"known_trip_count":\s*\{\s*"n":\s*"?([0-9]+)', 1
    ) AS BIGINT) AS trip_count
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.opcode = 'while'
),
counted AS MATERIALIZED (
  SELECT * FROM counted_loops()
),
bodies AS MATERIALIZED (
  SELECT DISTINCT
    w.module_id, w.instruction_id, w.name, c.computation_id AS body_id,
    coalesce(w.trip_count, n.trip_count) AS trip_count,
    CASE
      WHEN w.trip_count IS NOT NULL THEN 'backend_config'
      WHEN n.trip_count IS NOT NULL THEN 'condition'
    END AS trip_count_from
  FROM whiles AS w
  JOIN called_computations AS c USING (module_id, instruction_id)
  LEFT JOIN counted AS n USING (module_id, instruction_id)
  WHERE c.role = 'body'
)
SELECT
  b.module_id, b.instruction_id, b.name AS instruction, b.body_id,
  b.trip_count, b.trip_count_from,
  min(i.schedule_step) AS body_from_step, max(i.schedule_step) AS body_to_step
FROM bodies AS b
LEFT JOIN store.instructions AS i
  ON i.module_id = b.module_id
  AND i.computation_id = b.body_id
GROUP BY ALL
