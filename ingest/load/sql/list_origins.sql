-- Runs, whence they came, and what was kept of their passes.
SELECT
  r.run_id, r.name, r.origin,
  CASE
    WHEN EXISTS (
      FROM dump_files AS f
      WHERE f.run_id = r.run_id AND f.reason = 'left out by --passes none'
    ) THEN 'none'
    WHEN EXISTS (
      FROM modules AS m
      WHERE m.run_id = r.run_id AND m.stage = 'pass' AND NOT m.is_detailed
    ) THEN 'metrics'
    ELSE 'full'
  END AS passes
FROM runs AS r
WHERE r.origin IS NOT NULL
  AND ($run IS NULL OR r.name = $run)
ORDER BY r.run_id
