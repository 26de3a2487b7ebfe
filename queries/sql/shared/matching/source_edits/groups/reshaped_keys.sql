-- step: Operations of the forward pass that differ in nothing but dimensions,
--   as often on both sides, where those of the arguments are equal.
-- grain: pair, key
SELECT
  u.pair, u.key,
  min(u.shape) FILTER (WHERE NOT u.is_candidate) AS base_shape,
  min(u.shape) FILTER (WHERE u.is_candidate) AS candidate_shape,
  min(u.dims) FILTER (WHERE NOT u.is_candidate) AS base_dims,
  min(u.dims) FILTER (WHERE u.is_candidate) AS candidate_dims,
  max(u.size_bytes) AS size_bytes
FROM unmatched_operations AS u
JOIN argument_agreement AS g USING (pair)
WHERE g.has_same_sizes
  AND NOT u.is_backward
GROUP BY u.pair, u.key
HAVING count_if(u.is_candidate) = count_if(NOT u.is_candidate)
  AND min(u.element_type) = max(u.element_type)
  AND base_dims <> candidate_dims
