-- step: Temporary arrays that have the dimensions of an argument that each
--   device holds whole, or of a step of it, in programs with a backward pass:
--   its gradients and updates, of which a device keeps a part if they are
--   sharded as the argument is.
-- grain: value, subject
SELECT DISTINCT
  v.module_id, v.value_id, r.subject, r.part, r.whole
FROM arrays AS v
JOIN (
  SELECT DISTINCT
    r.module_id, r.subject, r.part, r.whole, a.dimensions,
    split_part(a.dimensions, ',', 1) AS first_dimension
  FROM replicated_values AS r
  JOIN arguments AS a USING (module_id, value_id)
  WHERE a.dimensions LIKE '%,%'
) AS r
  ON r.module_id = v.module_id
  AND (
    v.dimensions = r.dimensions
    OR r.dimensions = r.first_dimension || ',' || v.dimensions
  )
JOIN program_traits AS t
  ON t.module_id = v.module_id
  AND t.has_backward
ANTI JOIN replicated_values AS w
  ON w.module_id = v.module_id
  AND w.value_id = v.value_id
  AND w.subject = r.subject
WHERE v.kind = 'temp'
