-- title: The two runs that a comparison is about
-- question: Which run is compared with which?
-- definition: The runs called base and candidate. Without a base the one that
--   base_choice says, as a report does by default. Without a candidate: the
--   latest run that has a run of its platform and device before it, or that is
--   not the given base.
-- grain: pair of runs (at most one)
-- param base
-- param candidate
-- column base_run_id BIGINT id neutral: Number of the base.
-- column base VARCHAR name neutral: Name of the base.
-- column candidate_run_id BIGINT id neutral: Number of the candidate.
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
