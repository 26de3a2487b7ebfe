-- step: Values that a result of two dimensions or more alone keeps: what it is
--   computed from, after the last use by something else.
-- grain: value
WITH RECURSIVE reads AS MATERIALIZED (
  SELECT DISTINCT u.module_id, u.value_id, u.instruction_id
  FROM (SELECT DISTINCT module_id FROM result_arrays) AS r
  JOIN store.value_uses AS u USING (module_id)
  JOIN scheduled_instructions AS i USING (module_id, instruction_id)
  WHERE i.opcode <> 'tuple'
),
read_once AS MATERIALIZED (
  SELECT
    v.module_id, v.instruction_id,
    any_value(r.instruction_id) AS reader_id
  FROM arrays AS v
  JOIN reads AS r USING (module_id, value_id)
  JOIN scheduled_instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  WHERE i.opcode NOT IN ('while', 'conditional', 'call', 'parameter')
  GROUP BY v.module_id, v.instruction_id
  HAVING count(DISTINCT r.instruction_id) = 1
),
lone AS (
  SELECT r.module_id, r.instruction_id, r.subject
  FROM result_arrays AS r
  ANTI JOIN read_steps AS s
    ON s.module_id = r.module_id
    AND s.value_id = r.value_id
    AND s.mark = 'reported'
  JOIN scheduled_instructions AS i
    ON i.module_id = r.module_id
    AND i.instruction_id = r.instruction_id
  WHERE NOT r.is_history
    AND r.dimensions LIKE '%,%'
    AND i.opcode NOT IN ('while', 'conditional', 'call')
  UNION
  SELECT o.module_id, o.instruction_id, l.subject
  FROM lone AS l
  JOIN read_once AS o
    ON o.module_id = l.module_id
    AND o.reader_id = l.instruction_id
),
read AS MATERIALIZED (
  SELECT DISTINCT u.module_id, u.value_id, l.subject
  FROM lone AS l
  JOIN reads AS u USING (module_id, instruction_id)
),
others AS (
  SELECT u.module_id, u.value_id, max(i.schedule_step) AS last_step
  FROM (SELECT DISTINCT module_id, value_id FROM read) AS r
  JOIN reads AS u USING (module_id, value_id)
  JOIN scheduled_instructions AS i USING (module_id, instruction_id)
  ANTI JOIN lone AS l USING (module_id, instruction_id)
  GROUP BY u.module_id, u.value_id
)
SELECT v.*, r.subject, coalesce(o.last_step + 1, v.start_step) AS from_step
FROM read AS r
JOIN arrays AS v USING (module_id, value_id)
LEFT JOIN others AS o USING (module_id, value_id)
ANTI JOIN result_arrays AS a
  ON a.module_id = v.module_id
  AND a.value_id = v.value_id
WHERE v.kind IN ('temp', 'live_out')
  AND v.end_step > coalesce(o.last_step, v.start_step - 1)
