-- title: The two runs that a comparison is about
-- question: Which two runs are compared?
-- definition: The runs named base and candidate. Without a base, the one of
--   base_choice, as in reports. Without a candidate, the latest run with an
--   earlier run of its platform and device, or the latest one that is not the
--   given base.
-- grain: pair of runs (at most one)
-- param base
-- param candidate
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column base VARCHAR name neutral: Name of the base.
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column candidate VARCHAR name neutral: Name of the candidate.
SELECT
  c.run_id AS base_run_id, c.run AS base, c.candidate_run_id,
  c.candidate AS candidate
FROM base_choice(candidate := $candidate) AS c
WHERE c.is_base
  AND $base IS NULL
UNION ALL
(
  SELECT b.run_id, b.run, o.run_id, o.run
  FROM run_order() AS o
  CROSS JOIN (SELECT * FROM run_order() AS n WHERE n.run = $base) AS b
  WHERE $base IS NOT NULL
    AND (o.run = $candidate OR ($candidate IS NULL AND o.run <> $base))
  ORDER BY o.place
  LIMIT 1
)
