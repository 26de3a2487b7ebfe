-- step: The user's calls that lead to each frame, from the inside out. A
--   script that calls the program is no part of it.
-- grain: pair, side, frame, user frame that it is called from
WITH RECURSIVE callers AS (
  SELECT
    f.pair, f.is_candidate, f.frame_id, f.frame_id AS caller_id, f.parent_id,
    0 AS distance
  FROM frames AS f
  UNION ALL
  SELECT
    c.pair, c.is_candidate, c.frame_id, f.frame_id, f.parent_id,
    c.distance + 1
  FROM callers AS c
  JOIN frames AS f
    ON f.pair = c.pair
    AND f.is_candidate = c.is_candidate
    AND f.frame_id = c.parent_id
  WHERE c.distance < 100
)
SELECT
  c.pair, c.is_candidate, c.frame_id, c.distance, f.function_name, f.file_name,
  f.line, hash(f.file_name, f.function_name, f.line) AS site
FROM callers AS c
JOIN frames AS f
  ON f.pair = c.pair
  AND f.is_candidate = c.is_candidate
  AND f.frame_id = c.caller_id
WHERE f.is_user
QUALIFY f.function_name <> '<module>'
  OR bool_and(f.function_name = '<module>')
    OVER (PARTITION BY c.pair, c.is_candidate)
