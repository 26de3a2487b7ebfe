-- step: The pairs of compilations, each once: b and c are what is known of
--   base and candidate.
-- grain: pair
WITH compiled AS MATERIALIZED (
  SELECT c.*, coalesce(c.source_id, c.module_id) AS earliest_id
  FROM compilations(run_ids := (
    SELECT coalesce(list_distinct(list(base_run) || list(candidate_run)), [])
    FROM asked_pairs
  )) AS c
)
SELECT
  row_number() OVER (
    ORDER BY a.base_run, a.base_number, a.candidate_run, a.candidate_number
  ) AS pair,
  b, c
FROM (
  SELECT DISTINCT base_run, base_number, candidate_run, candidate_number
  FROM asked_pairs
) AS a
JOIN compiled AS b
  ON b.run_id = a.base_run
  AND b.place = a.base_number
JOIN compiled AS c
  ON c.run_id = a.candidate_run
  AND c.place = a.candidate_number
