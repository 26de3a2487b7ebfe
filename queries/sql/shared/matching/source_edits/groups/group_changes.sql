-- step: What was edited in a group: a type, sharding or shape, what a loop
--   stacks, else which operations were added, removed or replaced. A random
--   mask comes before a narrower type. Where the arguments have the same
--   sizes, a few operations of another type are not what was edited among many
--   of other dimensions; nor are they where other operations take the place of
--   some, and the results grow though the type is narrower, or the reverse.
-- grain: pair, file, function
WITH names AS (
  SELECT
    pair, source_file, function_name,
    nullif(array_to_string(list_filter(
      base_operations,
      lambda x: NOT list_contains(base_unnamed, x)
        AND NOT coalesce(list_contains(candidate_operations, x), FALSE)
    )[:3], ', '), '') AS base_names,
    nullif(array_to_string(list_filter(
      candidate_operations,
      lambda x: NOT list_contains(candidate_unnamed, x)
        AND NOT coalesce(list_contains(base_operations, x), FALSE)
    )[:3], ', '), '') AS candidate_names
  FROM operation_lists
)
SELECT
  s.*, o.base_operations, o.candidate_operations,
  -- That of the largest result of what is named first.
  o.candidate_lines[list_filter(
    o.candidate_operations,
    lambda x: NOT list_contains(o.candidate_unnamed, x)
      AND NOT coalesce(list_contains(o.base_operations, x), FALSE)
  )[1]] AS named_line, p.base_paths,
  p.candidate_paths,
  coalesce(t.operation_count, k.other_count) AS retyped_count, t.new_line,
  t.lost_line, t.kept_line, t.first_call,
  CASE
    WHEN b.pair IS NOT NULL
      AND len(string_split(k.base_shape, ','))
        <> len(string_split(k.candidate_shape, ','))
      THEN CASE WHEN b.is_in_candidate THEN 'batched' ELSE 'unbatched' END
    WHEN d.pair IS NOT NULL
      AND coalesce(t.candidate_type NOT IN ('f32', 'f64'), TRUE)
      THEN 'random'
    WHEN t.base_type IS NOT NULL
      AND NOT (
        g.has_same_sizes
        AND coalesce(k.reshaped_count > 4 * t.operation_count, FALSE)
        OR n.base_names IS NOT NULL
        AND n.candidate_names IS NOT NULL
        AND s.delta_bytes * (
          CAST(regexp_extract(t.candidate_type, '\d+') AS INTEGER)
          - CAST(regexp_extract(t.base_type, '\d+') AS INTEGER)
        ) < 0
      )
      THEN 'retyped'
    WHEN k.is_resharded AND k.is_even THEN 'resharded'
    WHEN k.is_of_types AND k.is_even AND t.base_type IS NULL THEN 'retyped'
    WHEN k.candidate_shape IS NOT NULL
      AND (
        k.is_even
        OR k.reshaped_count > 4 * t.operation_count
        OR coalesce(n.base_names, n.candidate_names) IS NULL
        AND k.other_count > 1
      )
      THEN 'reshaped'
    WHEN k.base_sharding IS NOT NULL
      AND k.candidate_sharding IS NOT NULL
      AND coalesce(n.base_names, n.candidate_names) IS NULL
      THEN 'resharded'
    WHEN m.pair IS NOT NULL
      AND coalesce(n.base_names, n.candidate_names) IS NULL
      THEN 'resharded'
    WHEN w.pair IS NOT NULL THEN 'stack'
    WHEN o.base_operations IS NULL THEN 'added'
    WHEN o.candidate_operations IS NULL THEN 'removed'
    ELSE 'replaced'
  END AS change,
  CASE change
    WHEN 'retyped'
      THEN coalesce(t.base_type, regexp_extract(k.base_shape, '^\w+'))
    WHEN 'resharded' THEN coalesce(m.base_sharding, k.base_sharding)
    WHEN 'batched' THEN k.base_shape
    WHEN 'unbatched' THEN k.base_shape
    WHEN 'reshaped' THEN k.base_shape
    WHEN 'stack' THEN w.base_stacks
    WHEN 'random' THEN d.base_shapes
    ELSE n.base_names
  END AS base_text,
  CASE change
    WHEN 'retyped'
      THEN coalesce(
        t.candidate_type, regexp_extract(k.candidate_shape, '^\w+')
      )
    WHEN 'resharded' THEN coalesce(m.candidate_sharding, k.candidate_sharding)
    WHEN 'batched' THEN k.candidate_shape
    WHEN 'unbatched' THEN k.candidate_shape
    WHEN 'reshaped' THEN k.candidate_shape
    WHEN 'stack' THEN w.candidate_stacks
    WHEN 'random' THEN d.candidate_shapes
    ELSE n.candidate_names
  END AS candidate_text
FROM group_sums AS s
JOIN argument_agreement AS g USING (pair)
LEFT JOIN batch_dimensions AS b USING (pair)
JOIN operation_lists AS o USING (pair, source_file, function_name)
JOIN names AS n USING (pair, source_file, function_name)
LEFT JOIN group_paths AS p USING (pair, source_file, function_name)
LEFT JOIN group_types AS t USING (pair, source_file, function_name)
LEFT JOIN group_shapes AS k USING (pair, source_file, function_name)
LEFT JOIN relocated_shardings AS m USING (pair, source_file, function_name)
LEFT JOIN group_stacks AS w USING (pair, source_file, function_name)
LEFT JOIN random_draws AS d USING (pair, source_file, function_name)
