-- step: The shapes of most operations that differ in nothing else, where those
--   of the arguments are equal: they follow from what was added, removed or
--   replaced.
-- grain: pair
SELECT
  pair, arg_max(base_shape, (key_count, size_sum)) AS base_shape,
  arg_max(candidate_shape, (key_count, size_sum)) AS candidate_shape
FROM (
  SELECT
    pair, base_shape, candidate_shape, count(*) AS key_count,
    sum(size_bytes) AS size_sum
  FROM reshaped_keys
  WHERE base_shape <> candidate_shape
  GROUP BY pair, base_shape, candidate_shape
)
GROUP BY pair
HAVING sum(key_count) >= 10
