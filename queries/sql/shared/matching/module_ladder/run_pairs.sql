-- step: Whether both runs have one rank, and only one of them numbers it: then
--   they are of one host.
-- grain: pair
WITH runs_of_one_rank AS (
  SELECT
    m.run_id, any_value(m.rank) AS own_rank,
    count(DISTINCT m.rank) + CAST(bool_or(m.rank IS NULL) AS INTEGER) = 1
      AS has_one_rank
  FROM compiled_modules AS m
  GROUP BY m.run_id
)
SELECT
  a.pair, a.base_run_id, a.candidate_run_id, c.own_rank AS host_rank,
  coalesce(
    b.has_one_rank AND c.has_one_rank
    AND (b.own_rank IS NULL) <> (c.own_rank IS NULL), FALSE
  ) AS is_one_host
FROM asked_runs AS a
LEFT JOIN runs_of_one_rank AS b ON b.run_id = a.base_run_id
LEFT JOIN runs_of_one_rank AS c ON c.run_id = a.candidate_run_id
