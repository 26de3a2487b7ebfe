-- step: Arrays that are saved for the backward pass, and how many are alike:
--   of one shape, computed by one operation, whatever the numbers in the names
--   of layers are.
-- grain: value
SELECT
  v.*, s.idle_from_step, s.idle_until_step,
  count(*) OVER (
    PARTITION BY
      v.module_id, v.dimensions, v.element_type,
      regexp_replace(coalesce(i.op_name, ''), '[0-9]+', '', 'g')
  ) AS like_count
FROM saved_values() AS s
JOIN arrays AS v
  ON v.module_id = s.module_id
  AND v.value_id = s.value_id
LEFT JOIN scheduled_instructions AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
