-- step: Snapshots with the fingerprint by which they are compared: exact where
--   the last graphs are equal.
-- grain: pair, side, snapshot
-- materialised: no
SELECT
  s.*,
  CASE d.difference
    WHEN 'graph' THEN s.graph_fingerprint
    ELSE s.exact_fingerprint
  END AS content
FROM stage_snapshots AS s
JOIN stage_differences AS d USING (pair)
