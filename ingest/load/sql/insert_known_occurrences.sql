-- Occurrences of units whose bytes the warehouse knows: what follows from their
-- content is there already.
INSERT INTO store.occurrences BY NAME
WITH given AS MATERIALIZED (FROM incoming)
SELECT i.run_id, p.path_id, s.snapshot_id
FROM given AS i
JOIN store.paths AS p USING (path_key)
JOIN (
  SELECT DISTINCT ON (unit_digest, part) unit_digest, part, snapshot_id
  FROM store.snapshots
  WHERE unit_digest IN (SELECT unit_digest FROM given)
    AND snapshot_id IN (
      SELECT snapshot_id
      FROM store.occurrences
      JOIN runs USING (run_id)
      WHERE pruned_at IS NULL
    )
  ORDER BY unit_digest, part, snapshot_id
) AS s USING (unit_digest)
