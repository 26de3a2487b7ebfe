-- step: Functions of the user that have another name in the candidate: in the
--   same file, where neither side has the other, and with nearly the same
--   operations. What of them differs is one edit, of the new name.
-- grain: pair, function of the base
WITH function_keys AS MATERIALIZED (
  SELECT DISTINCT
    o.pair, o.is_candidate, n.file_name, n.function_name, o.key
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  ANTI JOIN frames AS f
    ON f.pair = n.pair
    AND f.is_candidate <> n.is_candidate
    AND f.file_name = n.file_name
    AND f.function_name = n.function_name
),
key_totals AS (
  SELECT
    pair, is_candidate, file_name, function_name, count(*) AS key_count
  FROM function_keys
  GROUP BY pair, is_candidate, file_name, function_name
)
SELECT
  b.pair, b.file_name, b.function_name, c.function_name AS candidate_function
FROM function_keys AS b
JOIN function_keys AS c
  ON c.pair = b.pair
  AND NOT b.is_candidate
  AND c.is_candidate
  AND c.file_name = b.file_name
  AND c.key = b.key
JOIN key_totals AS p
  ON p.pair = b.pair
  AND NOT p.is_candidate
  AND p.file_name = b.file_name
  AND p.function_name = b.function_name
JOIN key_totals AS q
  ON q.pair = c.pair
  AND q.is_candidate
  AND q.file_name = c.file_name
  AND q.function_name = c.function_name
GROUP BY b.pair, b.file_name, b.function_name, c.function_name
HAVING count(*) >= 0.8 * greatest(max(p.key_count), max(q.key_count))
QUALIFY count(*) OVER (
  PARTITION BY b.pair, b.file_name, b.function_name
) = 1
AND count(*) OVER (
  PARTITION BY b.pair, b.file_name, c.function_name
) = 1
