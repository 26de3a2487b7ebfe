-- step: Frames of the base whose operations are in another function of the
--   user in the candidate: unmatched ones of the same keys, of one function,
--   where one side lacks a function of that name.
-- grain: pair, frame of the base
WITH gone AS (
  SELECT
    n.pair, n.is_candidate, n.file_name, n.function_name
  FROM (
    SELECT DISTINCT pair, is_candidate, file_name, function_name
    FROM innermost_calls
  ) AS n
  ANTI JOIN call_sites AS c
    ON c.pair = n.pair
    AND c.is_candidate <> n.is_candidate
    AND c.function_name = n.function_name
)
SELECT
  b.pair, b.frame_id, any_value(c.file_name) AS source_file,
  any_value(c.function_name) AS function_name
FROM (
  SELECT u.pair, u.key, u.frame_id, n.file_name, n.function_name
  FROM unmatched_operations AS u
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  WHERE NOT u.is_candidate
) AS b
JOIN (
  SELECT DISTINCT u.pair, u.key, n.file_name, n.function_name
  FROM unmatched_operations AS u
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  WHERE u.is_candidate
) AS c USING (pair, key)
LEFT JOIN gone AS g
  ON g.pair = b.pair
  AND NOT g.is_candidate
  AND g.file_name = b.file_name
  AND g.function_name = b.function_name
LEFT JOIN gone AS w
  ON w.pair = b.pair
  AND w.is_candidate
  AND w.file_name = c.file_name
  AND w.function_name = c.function_name
GROUP BY b.pair, b.frame_id
HAVING count(DISTINCT hash(c.file_name, c.function_name)) = 1
  AND bool_and(g.pair IS NOT NULL OR w.pair IS NOT NULL)
