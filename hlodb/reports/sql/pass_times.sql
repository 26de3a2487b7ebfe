-- Time of each pass in the runs $base and $candidate.
SELECT
  p.pipeline, p.pass_name,
  coalesce(sum(p.duration_us) FILTER (WHERE p.run_id = $base), 0) AS base_us,
  coalesce(sum(p.duration_us) FILTER (WHERE p.run_id = $candidate), 0)
    AS candidate_us
FROM passes AS p
WHERE p.run_id IN ($base, $candidate)
GROUP BY ALL
ORDER BY ALL
