-- Units that were to be copied from other runs, and could not.
SELECT count(*)
FROM (SELECT unnest($unit_digests) AS unit_digest) AS u
ANTI JOIN modules AS m
  ON m.unit_digest = u.unit_digest
  AND m.run_id = $run_id
