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
WITH held AS (
  SELECT DISTINCT
    o.place, o.platform, o.device, o.series AS run_series,
    m.program AS program_name
  FROM run_order() AS o
  JOIN modules AS m USING (run_id)
  WHERE m.has_assignment
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
)
SELECT
  b.run_id AS base_run_id, b.run AS base,
  c.run_id AS candidate_run_id, c.run AS candidate
FROM run_order() AS c
LEFT JOIN automatic AS a ON a.candidate_place = c.place
JOIN run_order() AS b
  ON b.run = $base
  OR ($base IS NULL AND b.place = a.base_place)
WHERE b.run_id <> c.run_id
  AND ($candidate IS NULL OR c.run = $candidate)
ORDER BY c.place
LIMIT 1
