-- title: Phase in which a value is made and last read
-- question: Is a value made forward and last read backward?
-- definition: made_in is the phase of the defining instruction
--   (dataflow_phases); last_read_in that of the scheduled reader with the
--   greatest step and a phase.
-- grain: module content, value
-- needs: value_places, dataflow_phases, value_uses
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column value_id
-- column made_in VARCHAR name neutral: forward, backward, between, optimiser,
--   other or none.
-- column last_read_in VARCHAR name neutral: The same of its last reader,
--   backward where that is between; NULL without.
WITH paths AS MATERIALIZED (
  SELECT o.module_id, o.instruction_id, o.phase, o.schedule_step
  FROM dataflow_phases(
    run := $run, program := $program, module_ids := $module_ids,
    every_run := $every_run
  ) AS o
),
tenants AS (
  SELECT DISTINCT module_id, value_id, instruction_id
  FROM value_places(
    run := $run, program := $program, module_ids := $module_ids,
    every_run := $every_run
  )
),
readers AS (
  SELECT
    t.module_id, t.value_id,
    arg_max(
      CASE p.phase WHEN 'between' THEN 'backward' ELSE p.phase END,
      (p.schedule_step, p.instruction_id)
    ) AS last_read_in
  FROM tenants AS t
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN paths AS p
    ON p.module_id = u.module_id
    AND p.instruction_id = u.instruction_id
  WHERE p.phase <> 'none'
    AND p.schedule_step IS NOT NULL
    AND (NOT $every_run OR list_contains($module_ids, u.module_id))
  GROUP BY t.module_id, t.value_id
)
SELECT
  t.module_id, t.value_id,
  coalesce(p.phase, 'none') AS made_in,
  r.last_read_in
FROM tenants AS t
LEFT JOIN paths AS p
  ON p.module_id = t.module_id
  AND p.instruction_id = t.instruction_id
LEFT JOIN readers AS r
  ON r.module_id = t.module_id
  AND r.value_id = t.value_id
