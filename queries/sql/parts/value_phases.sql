-- title: Phase in which a value is made and last read
-- question: Is a value made forward and last read backward?
-- definition: made_in is the phase of the defining instruction's op_name
--   (op_paths); last_read_in that of the scheduled reader with the greatest
--   step and a phase.
-- grain: module content, value
-- needs: placed_values, op_paths, value_uses, instructions
-- param run
-- param program
-- column module_id
-- column value_id
-- column made_in VARCHAR name neutral: forward, backward, optimiser, other or
--   none.
-- column last_read_in VARCHAR name neutral: The same of its last reader; NULL
--   without.
WITH tenants AS (
  SELECT DISTINCT module_id, value_id, instruction_id
  FROM placed_values(run := $run, program := $program)
),
readers AS (
  SELECT
    t.module_id, t.value_id,
    arg_max(p.phase, (i.schedule_step, i.instruction_id)) AS last_read_in
  FROM tenants AS t
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  JOIN op_paths(run := $run, program := $program) AS p
    ON p.module_id = u.module_id
    AND p.instruction_id = u.instruction_id
  WHERE p.phase <> 'none'
    AND i.schedule_step IS NOT NULL
  GROUP BY t.module_id, t.value_id
)
SELECT
  t.module_id, t.value_id, coalesce(p.phase, 'none') AS made_in, r.last_read_in
FROM tenants AS t
LEFT JOIN op_paths(run := $run, program := $program) AS p
  ON p.module_id = t.module_id
  AND p.instruction_id = t.instruction_id
LEFT JOIN readers AS r
  ON r.module_id = t.module_id
  AND r.value_id = t.value_id
