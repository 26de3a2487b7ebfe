-- step: Arrays that are saved for the backward pass.
-- grain: value
SELECT v.*, s.idle_from_step, s.idle_until_step
FROM saved_values() AS s
JOIN arrays AS v
  ON v.module_id = s.module_id
  AND v.value_id = s.value_id
