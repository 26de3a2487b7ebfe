-- step: Arrays that only one side stacks in a loop, a part for each iteration,
--   in groups that do nothing in the loop but write such arrays and read them.
--   What reads them behind the loop is there because of them. What is little
--   beside another does not count, nor beside what else differs there.
-- grain: pair, file, function
WITH moves AS (
  SELECT
    *,
    regexp_full_match(
      operation,
      -- The backward pass adds what comes from it.
      'dynamic_(update_)?(slice|index_in_dim)|broadcast_in_dim|slice|squeeze'
      -- Its body may be a function that then returns more.
      '|add_any|closed_call'
    ) AS is_of_stack,
    bool_or(is_stacked) OVER (
      PARTITION BY pair, is_candidate, computation_id
    ) AS is_in_loop
  FROM grouped_operations
),
written AS (
  SELECT
    m.pair, m.source_file, m.function_name, m.shape,
    count_if(m.is_candidate) - count_if(NOT m.is_candidate) AS more,
    max(m.size_bytes) AS size_bytes
  FROM moves AS m
  JOIN (
    SELECT pair, source_file, function_name, max(size_bytes) AS most_bytes
    FROM moves
    GROUP BY pair, source_file, function_name
    HAVING bool_and(is_of_stack OR NOT is_in_loop)
  ) AS g USING (pair, source_file, function_name)
  WHERE m.is_stacked
    AND m.size_bytes >= 0.001 * g.most_bytes
  GROUP BY m.pair, m.source_file, m.function_name, m.shape
  HAVING more <> 0
  QUALIFY max(m.size_bytes) >= 0.01 * max(max(m.size_bytes)) OVER (
    PARTITION BY m.pair, m.source_file, m.function_name
  )
)
SELECT
  pair, source_file, function_name,
  string_agg(shape, ', ' ORDER BY size_bytes DESC, shape)
    FILTER (WHERE more < 0) AS base_stacks,
  string_agg(shape, ', ' ORDER BY size_bytes DESC, shape)
    FILTER (WHERE more > 0) AS candidate_stacks
FROM written
GROUP BY pair, source_file, function_name
HAVING (base_stacks IS NULL) <> (candidate_stacks IS NULL)
