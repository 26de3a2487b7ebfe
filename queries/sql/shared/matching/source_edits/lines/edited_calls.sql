-- step: The pairs in which some call of the user is at another line or column,
--   or on one side only. In all others, operations that are added, removed or
--   replaced are those of another release of a library. has_other_frames: the
--   release of one side prints frames, that of the other only lines.
-- grain: pair
WITH calls AS (
  SELECT DISTINCT
    pair, is_candidate, file_name, function_name, line, column_number
  FROM frames
  WHERE is_user
    AND function_name <> '<module>'
),
counted AS (
  SELECT
    c.pair, c.function_name,
    count(*) OVER (
      PARTITION BY
        c.pair, c.file_name, c.function_name, c.line, c.column_number
    ) AS side_count
  FROM calls AS c
)
SELECT
  pair,
  bool_or(function_name = '') <> bool_and(function_name = '')
    AS has_other_frames
FROM counted
GROUP BY pair
HAVING bool_or(side_count = 1)
