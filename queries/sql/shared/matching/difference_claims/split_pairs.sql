-- step: The pairs whose difference is split by what it follows from: those of
--   several edits, of an edit and other inputs or versions, or of a new output
--   alone, which may be less than the difference. Any other edit has all of
--   it.
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
    OR (e.change = 'output' AND e.base_text IS NULL)
) AS e USING (pair)
WHERE $split IS NULL
  OR p.pair IN (SELECT unnest($split))
