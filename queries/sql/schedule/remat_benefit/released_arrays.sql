-- step: Arrays that a clone reads last, and that would be released earlier
--   without it.
-- grain: case, value
SELECT
  r.module_id, r.clone_id, v.color AS space_color, v.size_bytes,
  greatest(v.start_step, coalesce(max(r.step) FILTER (
    WHERE NOT r.is_left_out
  ), 0)) AS after_step,
  v.end_step AS before_step
FROM (
  SELECT
    c.module_id, c.clone_id, r.value_id, r.step,
    coalesce(r.reader_id = c.clone_id, r.is_by_clone) AS is_left_out
  FROM (SELECT DISTINCT module_id, clone_id FROM asked_cases) AS c
  JOIN reads AS r USING (module_id)
) AS r
JOIN array_places AS v USING (module_id, value_id)
ANTI JOIN kept_arrays AS k
  ON k.module_id = r.module_id
  AND k.clone_id IS NOT DISTINCT FROM r.clone_id
  AND k.value_id = r.value_id
WHERE v.kind = 'temp'
GROUP BY
  r.module_id, r.clone_id, v.color, v.value_id, v.size_bytes, v.start_step,
  v.end_step
HAVING max(r.step) FILTER (WHERE r.is_left_out) = v.end_step
  AND coalesce(max(r.step) FILTER (WHERE NOT r.is_left_out), v.start_step)
    < v.end_step
