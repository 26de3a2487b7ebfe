-- step: The pairs of runs, and whether both may be of one device.
-- grain: pair of runs
SELECT p.*, s.may_be_same OR NOT $follow AS is_same_device
FROM (
  SELECT
    1 AS pair, o.base_run_id, o.base, o.candidate_run_id, o.candidate
  FROM selected_pair(base := $base, candidate := $candidate) AS o
  WHERE $base_ids IS NULL
  UNION ALL
  SELECT
    a.pair, a.base_run_id, n.name, a.candidate_run_id, m.name
  FROM (
    SELECT
      unnest(range(1, len($base_ids) + 1)) AS pair,
      unnest($base_ids) AS base_run_id,
      unnest($candidate_ids) AS candidate_run_id
  ) AS a
  JOIN runs AS n ON n.run_id = a.base_run_id
  JOIN runs AS m ON m.run_id = a.candidate_run_id
) AS p
JOIN runs AS b ON b.run_id = p.base_run_id
JOIN runs AS c ON c.run_id = p.candidate_run_id,
LATERAL (
  SELECT d.may_be_same FROM same_device(one := b.device, other := c.device)
    AS d
) AS s
