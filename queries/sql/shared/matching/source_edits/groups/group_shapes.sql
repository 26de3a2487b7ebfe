-- step: The first other sharding and the first other shape of a group.
--   is_even: each of its keys is as often on both sides. reshaped_count: keys
--   of which those have other dimensions alone. is_of_types: all those of
--   another shape have the same dimensions, and elements of another width.
-- grain: pair, file, function
WITH keys AS (
  SELECT
    pair, source_file, function_name,
    min(sharding) FILTER (WHERE NOT is_candidate) AS base_sharding,
    min(sharding) FILTER (WHERE is_candidate) AS candidate_sharding,
    min(shape) FILTER (WHERE NOT is_candidate) AS base_shape,
    min(shape) FILTER (WHERE is_candidate) AS candidate_shape,
    min(size_bytes) FILTER (WHERE NOT is_candidate) AS base_bytes,
    min(size_bytes) FILTER (WHERE is_candidate) AS candidate_bytes,
    count_if(NOT is_candidate) = count_if(is_candidate) AS is_even,
    base_sharding IS DISTINCT FROM candidate_sharding AS is_resharded,
    is_even AND base_shape <> candidate_shape AS is_reshaped,
    is_even
    AND min(dims) <> max(dims)
    AND min(element_type) = max(element_type) AS is_of_one_type,
    min(instruction_id) AS first_id
  FROM grouped_operations
  GROUP BY pair, source_file, function_name, key
)
SELECT
  pair, source_file, function_name,
  arg_min(base_sharding, first_id) FILTER (WHERE is_resharded)
    AS base_sharding,
  arg_min(candidate_sharding, first_id) FILTER (WHERE is_resharded)
    AS candidate_sharding,
  arg_min(base_shape, first_id) FILTER (WHERE is_reshaped) AS base_shape,
  arg_min(candidate_shape, first_id) FILTER (WHERE is_reshaped)
    AS candidate_shape,
  bool_and(is_even) AS is_even, count_if(is_of_one_type) AS reshaped_count,
  bool_or(is_resharded AND is_even) AS is_resharded,
  count_if(is_reshaped) AS other_count,
  other_count > 0
  AND bool_and(
    regexp_extract(base_shape, '\[.*')
      = regexp_extract(candidate_shape, '\[.*')
    AND base_bytes <> candidate_bytes
  ) FILTER (WHERE is_reshaped) AS is_of_types
FROM keys
GROUP BY pair, source_file, function_name
