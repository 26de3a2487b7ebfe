-- step: The pairs whose difference is split by what it follows from: those of
--   several edits, or of an edit and other inputs or versions. Any other edit
--   has all of the difference.
-- grain: pair
SELECT p.*
FROM compiled_pairs AS p
SEMI JOIN (
  SELECT e.pair
  FROM edits AS e
  JOIN compiled_pairs AS c USING (pair)
  WHERE e.edit_count > 1
    OR c.has_other_inputs
    OR c.has_other_environment
) AS e USING (pair)
WHERE $split IS NULL
  OR p.pair IN (SELECT unnest($split))
