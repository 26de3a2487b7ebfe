-- step: Programs that divide other arguments than inputs: what they compute of
--   a batch may be in parts already, by another dimension.
-- grain: program
SELECT DISTINCT a.module_id
FROM arguments AS a
JOIN store.instructions AS i
  ON i.module_id = a.module_id
  AND i.instruction_id = a.instruction_id
JOIN store.instruction_forms AS f USING (form_id)
JOIN sharding_splits() AS s USING (sharding)
WHERE NOT a.is_input
  AND s.shards > 1
