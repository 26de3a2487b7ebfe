-- title: Loops
-- question: Which while loops are there, and how often do they run?
-- definition: while instructions of the last snapshot of every module with
--   their body; trip_count is known_trip_count of the backend_config, NULL
--   where unknown. steps are those of the flattened schedule that the body's
--   own instructions take.
-- grain: module content, while instruction
-- needs: final_modules, instructions, called_computations
-- param run
-- param program
-- column module_id
-- column instruction_id
-- column instruction VARCHAR name neutral: The while instruction.
-- column body_id INTEGER id neutral: computation_id of its body.
-- column trip_count BIGINT count neutral: How often it runs; NULL where
--   unknown.
-- column body_from_step INTEGER step neutral: First step of the body.
-- column body_to_step INTEGER step neutral: Last step of the body.
WITH bodies AS (
  SELECT DISTINCT
    i.module_id, i.instruction_id, i.name, c.computation_id AS body_id,
    TRY_CAST(regexp_extract(
      i.backend_config, '"known_trip_count":\s*\{\s*"n":\s*"?([0-9]+)', 1
    ) AS BIGINT) AS trip_count
  FROM final_modules(run := $run, program := $program) AS m
  JOIN instructions AS i USING (module_id)
  JOIN called_computations AS c USING (module_id, instruction_id)
  WHERE i.opcode = 'while'
    AND c.role = 'body'
)
SELECT
  b.module_id, b.instruction_id, b.name AS instruction, b.body_id,
  b.trip_count,
  min(i.schedule_step) AS body_from_step, max(i.schedule_step) AS body_to_step
FROM bodies AS b
LEFT JOIN instructions AS i
  ON i.module_id = b.module_id
  AND i.computation_id = b.body_id
GROUP BY b.module_id, b.instruction_id, b.name, b.body_id, b.trip_count
