-- Units of `incoming` that were to be copied from other runs, and could not.
SELECT count(*)
FROM incoming AS i
ANTI JOIN modules AS m
  ON m.unit_digest = i.unit_digest
  AND m.run_id = i.run_id
