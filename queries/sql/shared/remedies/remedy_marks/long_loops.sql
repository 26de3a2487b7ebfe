-- step: Saved arrays of loops of 64 iterations and more, at least half of
--   whose bytes are the state of each iteration: a checkpoint around the body
--   keeps it all the same. Two nested loops, with a checkpoint around the
--   inner one, keep as many states as the root of that number, and as many
--   iterations. Loops over layers, whose weights have the iterations as a
--   dimension, are left out. part of whole: so much of each is freed.
-- grain: value
WITH stacks AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.allocation_id, v.offset_bytes, v.dimensions,
    any_value(v.size_bytes) AS size_bytes, min(l.loop_name) AS loop_name,
    TRY_CAST(split_part(v.dimensions, ',', 1) AS BIGINT) AS steps,
    count(k.value_id) = 0 AS is_state
  FROM saved_arrays AS v
  JOIN loop_arrays AS l
    ON l.module_id = v.module_id
    AND l.allocation_id = v.allocation_id
    AND l.offset_bytes = v.offset_bytes
    AND l.dimensions = v.dimensions
  LEFT JOIN kept_stacks AS k
    ON k.module_id = v.module_id
    AND k.value_id = v.value_id
  WHERE v.dimensions LIKE '%,%'
  GROUP BY
    v.module_id, v.value_id, v.allocation_id, v.offset_bytes, v.dimensions
),
-- Forms of one array lie in the same bytes.
places AS (
  SELECT
    module_id, steps, allocation_id, offset_bytes,
    max(size_bytes) AS size_bytes, bool_and(is_state) AS is_state
  FROM stacks
  GROUP BY module_id, steps, allocation_id, offset_bytes
),
lengths AS (
  SELECT p.module_id, p.steps
  FROM places AS p
  WHERE p.steps >= 64
  GROUP BY p.module_id, p.steps
  HAVING 2 * coalesce(sum(p.size_bytes) FILTER (WHERE p.is_state), 0)
    >= sum(p.size_bytes)
)
SELECT
  s.module_id, s.value_id, min(s.loop_name) AS loop_name,
  s.steps - 2 * CAST(ceil(sqrt(s.steps)) AS BIGINT) AS part, s.steps AS whole
FROM stacks AS s
JOIN lengths AS n USING (module_id, steps)
ANTI JOIN arguments AS a
  ON a.module_id = s.module_id
  AND NOT a.is_input
  AND split_part(a.dimensions, ',', 1) = CAST(s.steps AS VARCHAR)
  AND a.dimensions LIKE '%,%'
GROUP BY s.module_id, s.value_id, s.steps
