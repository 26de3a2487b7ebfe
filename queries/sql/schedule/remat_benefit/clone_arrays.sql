-- step: Arrays of clones and of what they are clones of. is_unneeded: only
--   clones read it.
-- grain: value
-- materialised: no
SELECT
  v.*, n.computation_id, n.original, n.name, n.is_clone,
  n.is_clone AND coalesce(r.is_by_clones, FALSE) AS is_unneeded
FROM array_places AS v
JOIN named_instructions AS n USING (module_id, instruction_id)
LEFT JOIN (
  SELECT module_id, value_id, bool_and(is_by_clone) AS is_by_clones
  FROM reads
  GROUP BY module_id, value_id
) AS r USING (module_id, value_id)
SEMI JOIN clones AS c
  ON c.module_id = n.module_id
  AND c.computation_id = n.computation_id
  AND c.original = n.original
WHERE n.is_clone
  OR n.name = n.original
