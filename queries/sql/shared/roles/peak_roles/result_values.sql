-- step: Results of the programs with their shapes.
-- grain: value
SELECT DISTINCT
  r.module_id, r.value_id, v.instruction_id,
  regexp_replace(v.shape, '\{.*$', '') AS shape
FROM result_places() AS r
JOIN store."values" AS v USING (module_id, value_id)
