-- step: When arrays are read, and whether by a clone. A read that is not
--   scheduled is one at the end.
-- grain: value, reading instruction
SELECT
  v.module_id, v.value_id, u.instruction_id AS reader_id,
  coalesce(i.schedule_step, v.end_step) AS step,
  i.is_clone AS is_by_clone
FROM array_places AS v
JOIN store.value_uses AS u USING (module_id, value_id)
JOIN named_instructions AS i
  ON i.module_id = u.module_id
  AND i.instruction_id = u.instruction_id
