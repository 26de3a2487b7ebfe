-- step: The shapes of most operations that differ in nothing else, where those
--   of the arguments are equal: they follow from what was added, removed or
--   replaced.
-- grain: pair
WITH keys AS (
  SELECT
    u.pair, u.key,
    min(u.shape) FILTER (WHERE NOT u.is_candidate) AS base_shape,
    min(u.shape) FILTER (WHERE u.is_candidate) AS candidate_shape,
    max(u.size_bytes) AS size_bytes
  FROM unmatched_operations AS u
  JOIN argument_agreement AS g USING (pair)
  WHERE g.has_same_sizes
    AND NOT u.is_backward
  GROUP BY u.pair, u.key
  HAVING count_if(u.is_candidate) = count_if(NOT u.is_candidate)
    AND min(u.element_type) = max(u.element_type)
    AND min(u.dims) <> max(u.dims)
    AND base_shape <> candidate_shape
)
SELECT
  pair, arg_max(base_shape, (key_count, size_sum)) AS base_shape,
  arg_max(candidate_shape, (key_count, size_sum)) AS candidate_shape
FROM (
  SELECT
    pair, base_shape, candidate_shape, count(*) AS key_count,
    sum(size_bytes) AS size_sum
  FROM keys
  GROUP BY pair, base_shape, candidate_shape
)
GROUP BY pair
HAVING sum(key_count) >= 10
