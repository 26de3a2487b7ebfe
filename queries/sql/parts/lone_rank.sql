-- title: The rank of the one host that two runs are of
-- question: Is a run whose files name no rank of the same host as the other,
--   whose files name one?
-- definition: Where all modules of one run of a comparison have the same rank
--   and those of the other none, that rank; else NULL.
-- grain: pair of runs (at most one)
-- needs: chosen_pair, modules
-- param base
-- param candidate
-- column lone_rank INTEGER id neutral: The rank that both runs are of.
WITH sides AS (
  SELECT
    m.run_id, count(DISTINCT m.rank) AS rank_count, max(m.rank) AS last_rank,
    bool_or(m.rank IS NULL) AS has_unranked
  FROM chosen_pair(base := $base, candidate := $candidate) AS p
  JOIN modules AS m ON m.run_id IN (p.base_run_id, p.candidate_run_id)
  GROUP BY m.run_id
)
SELECT
  CASE
    WHEN count(*) = 2
      AND sum(rank_count) = 1
      AND NOT bool_or(rank_count = 1 AND has_unranked)
      THEN max(last_rank)
  END AS lone_rank
FROM sides
