-- Files of such units: their module, and line counts of equal files read before, by
-- runs that are whole. The columns behind run_id are those of a FileReport, in order.
WITH given AS MATERIALIZED (FROM incoming),
whole AS (
  SELECT run_id FROM runs WHERE pruned_at IS NULL
)
SELECT
  i.run_id, i.path, i.kind, i.stage, i.sha256, i.size_bytes,
  'duplicate' AS status, s.module_id, f.lines_total, f.lines_unclaimed, f.reason
FROM given AS i
LEFT JOIN (
  SELECT unit_digest, arg_max(module_id, (part, -snapshot_id)) AS module_id
  FROM store.snapshots
  WHERE unit_digest IN (SELECT unit_digest FROM given)
    AND snapshot_id IN (
      SELECT snapshot_id FROM store.occurrences SEMI JOIN whole USING (run_id)
    )
  GROUP BY unit_digest
) AS s USING (unit_digest)
LEFT JOIN (
  SELECT DISTINCT ON (sha256, kind)
    sha256, kind, lines_total, lines_unclaimed, reason
  FROM dump_files
  WHERE sha256 IN (SELECT sha256 FROM given)
    AND status IN ('loaded', 'duplicate')
    AND run_id IN (FROM whole)
  ORDER BY sha256, kind, run_id
) AS f USING (sha256, kind)
