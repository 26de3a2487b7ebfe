-- title: The two runs that a comparison is about
-- question: Which run is compared with which?
-- definition: The runs called `base` and `candidate`. Without a base: the
--   latest run before the candidate on the same platform and device that holds
--   one of its programs with a buffer assignment, of the same series if there
--   is one. Without a candidate: the latest run that has such a base, or that
--   is not the given base.
-- grain: pair of runs (at most one)
-- needs: run_order, modules
-- param base
-- param candidate
-- column base_run_id BIGINT id neutral: Number of the base.
-- column base VARCHAR name neutral: Name of the base.
-- column candidate_run_id BIGINT id neutral: Number of the candidate.
-- column candidate VARCHAR name neutral: Name of the candidate.
WITH ordered AS MATERIALIZED (SELECT * FROM run_order()),
named AS (SELECT o.place FROM ordered AS o WHERE o.run = $base),
held AS (
  SELECT DISTINCT
    o.place, o.platform, o.device, o.series AS run_series,
    m.program AS program_name
  FROM ordered AS o
  JOIN modules AS m USING (run_id)
  WHERE m.has_assignment
    AND $base IS NULL
),
earlier AS (
  SELECT
    place,
    lead(place) OVER (
      PARTITION BY program_name, platform, device, run_series ORDER BY place
    ) AS place_in_series,
    lead(place) OVER (
      PARTITION BY program_name, platform, device ORDER BY place
    ) AS place_anywhere
  FROM held
),
automatic AS (
  SELECT
    place AS candidate_place,
    coalesce(min(place_in_series), min(place_anywhere)) AS base_place
  FROM earlier
  GROUP BY place
),
-- One key, not one of two: else each run meets each other.
wanted AS (
  SELECT
    c.run_id, c.run AS candidate_name, c.place,
    coalesce(a.base_place, (SELECT n.place FROM named AS n)) AS base_place
  FROM ordered AS c
  LEFT JOIN automatic AS a ON a.candidate_place = c.place
  WHERE $candidate IS NULL
    OR c.run = $candidate
)
SELECT
  b.run_id AS base_run_id, b.run AS base,
  w.run_id AS candidate_run_id, w.candidate_name AS candidate
FROM wanted AS w
JOIN ordered AS b ON b.place = w.base_place
WHERE b.run_id <> w.run_id
ORDER BY w.place
LIMIT 1
