-- Runs of which something was rejected or refused, and where they came from.
SELECT name, origin
FROM runs
WHERE origin IS NOT NULL
  AND run_id IN (
    SELECT run_id FROM rejects
    UNION
    SELECT run_id FROM dump_files WHERE status = 'rejected'
  )
ORDER BY run_id
