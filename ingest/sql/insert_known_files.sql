-- Files of such units: their module, and line counts of equal files read before.
INSERT INTO dump_files BY NAME
SELECT
  $run_id AS run_id, i.* EXCLUDE (unit_digest), m.module_id,
  'duplicate' AS status, f.lines_total, f.lines_unclaimed, f.reason
FROM incoming AS i
LEFT JOIN (
  SELECT unit_digest, arg_max(module_id, part) AS module_id
  FROM modules
  WHERE unit_digest IN (SELECT unit_digest FROM incoming)
  GROUP BY unit_digest
) AS m USING (unit_digest)
LEFT JOIN (
  SELECT DISTINCT ON (sha256, kind)
    sha256, kind, lines_total, lines_unclaimed, reason
  FROM dump_files
  WHERE sha256 IN (SELECT sha256 FROM incoming)
    AND status IN ('loaded', 'duplicate')
  ORDER BY sha256, kind, run_id
) AS f USING (sha256, kind)
