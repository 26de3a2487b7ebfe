-- step: Functions of the user that both sides have, and that were edited
--   themselves: what comes from them comes from other lines, counted from
--   their first, or other columns.
-- grain: pair, file, function
WITH places AS (
  SELECT DISTINCT
    f.pair, f.is_candidate, f.file_name, f.function_name,
    f.line - min(f.line) OVER (
      PARTITION BY f.pair, f.is_candidate, f.file_name, f.function_name
    ) AS line_offset,
    f.column_number
  FROM frames AS f
  WHERE f.is_user
    AND f.function_name NOT IN ('', '<module>')
),
counted AS (
  SELECT
    p.pair, p.file_name, p.function_name, p.is_candidate,
    count(*) OVER (
      PARTITION BY
        p.pair, p.file_name, p.function_name, p.line_offset, p.column_number
    ) AS side_count
  FROM places AS p
)
SELECT c.pair, c.file_name, c.function_name
FROM counted AS c
GROUP BY c.pair, c.file_name, c.function_name
HAVING bool_or(c.side_count = 1)
  AND bool_or(c.is_candidate)
  AND NOT bool_and(c.is_candidate)
