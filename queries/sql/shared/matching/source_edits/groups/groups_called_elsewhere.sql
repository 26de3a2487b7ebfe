-- step: Groups of one side alone that are of another group: a function that
--   both sides have, and none edited, is called once more, or once less, by
--   what that is of; or all its operations are as often on both sides, and
--   that group has them, too, such as constraints that a new function sets.
-- grain: pair, group
WITH even_keys AS (
  SELECT pair, key
  FROM grouped_operations
  GROUP BY pair, key
  HAVING count_if(is_candidate) = count_if(NOT is_candidate)
),
groups_of_both AS (
  SELECT pair, source_file, function_name
  FROM grouped_operations
  GROUP BY pair, source_file, function_name
  HAVING bool_or(is_candidate) AND NOT bool_and(is_candidate)
)
SELECT g.pair, g.rank
FROM ranked_groups AS g
SEMI JOIN untouched_functions AS f
  ON f.pair = g.pair
  AND f.file_name = g.source_file
  AND f.function_name = g.function_name
SEMI JOIN ranked_groups AS o
  ON o.pair = g.pair
  AND o.change IN (g.change, 'replaced')
  AND o.operation_count > g.operation_count
WHERE g.change IN ('added', 'removed')
UNION
SELECT g.pair, g.rank
FROM ranked_groups AS g
JOIN grouped_operations AS o USING (pair, source_file, function_name)
LEFT JOIN even_keys AS k USING (pair, key)
LEFT JOIN (
  SELECT DISTINCT o.pair, o.key
  FROM grouped_operations AS o
  JOIN groups_of_both AS b USING (pair, source_file, function_name)
) AS b USING (pair, key)
WHERE g.change IN ('added', 'removed')
GROUP BY g.pair, g.rank
HAVING bool_and(k.key IS NOT NULL AND b.key IS NOT NULL)
