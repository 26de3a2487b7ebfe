-- step: When results and gathered arrays are read first and last.
-- grain: value, mark
WITH users AS MATERIALIZED (
  SELECT v.module_id, v.value_id, v.mark, u.instruction_id
  FROM (
    SELECT module_id, value_id, 'reported' AS mark FROM result_arrays
    UNION ALL
    SELECT module_id, value_id, 'gathered' FROM gathered_values()
  ) AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
)
SELECT
  u.module_id, u.value_id, u.mark, min(i.schedule_step) AS first_step,
  max(i.schedule_step) AS last_step
FROM users AS u
JOIN scheduled_instructions AS i USING (module_id, instruction_id)
WHERE i.opcode NOT IN ('tuple', 'copy-done')
GROUP BY u.module_id, u.value_id, u.mark
