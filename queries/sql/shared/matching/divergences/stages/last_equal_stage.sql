-- step: The last snapshot of the candidate that the base has, too.
-- grain: pair with an equal snapshot
-- materialised: no
WITH base_snapshots AS (
  SELECT pair, content, max(place) AS place
  FROM compared_snapshots
  WHERE NOT is_candidate
  GROUP BY pair, content
)
SELECT
  c.pair, arg_max(c.label, c.place) AS label,
  max(c.place) AS candidate_place, arg_max(b.place, c.place) AS base_place
FROM compared_snapshots AS c
JOIN base_snapshots AS b USING (pair, content)
WHERE c.is_candidate
GROUP BY c.pair
