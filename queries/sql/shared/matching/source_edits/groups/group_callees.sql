-- step: The function that nine of ten operations of a line come from by its
--   call.
-- grain: pair, side, line
SELECT
  pair, source_file, function_name, is_candidate, line,
  regexp_replace(callee, '^.*<locals>\.', '') AS callee
FROM (
  SELECT
    pair, source_file, function_name, is_candidate, line, callee,
    count(*) AS operation_count,
    sum(count(*)) OVER (
      PARTITION BY pair, source_file, function_name, is_candidate, line
    ) AS line_count
  FROM grouped_operations
  GROUP BY pair, source_file, function_name, is_candidate, line, callee
)
WHERE operation_count >= 0.9 * line_count
  AND NOT contains(callee, '<lambda>')
