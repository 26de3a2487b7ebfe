-- step: Lines of the candidate with a call that is at no such place of the
--   function in the base.
-- grain: pair, file, function, line
WITH calls AS (
  SELECT DISTINCT
    pair, is_candidate, file_name, function_name, line, column_number,
    line - min(line) OVER (
      PARTITION BY pair, is_candidate, file_name, function_name
    ) AS place
  FROM frames
  WHERE is_user
)
SELECT DISTINCT
  c.pair, c.file_name AS source_file, c.function_name,
  c.line AS candidate_line
FROM calls AS c
ANTI JOIN calls AS b
  ON b.pair = c.pair
  AND NOT b.is_candidate
  AND b.file_name = c.file_name
  AND b.function_name = c.function_name
  AND b.place = c.place
  AND b.column_number IS NOT DISTINCT FROM c.column_number
WHERE c.is_candidate
