-- step: Programs that the candidate compiles more often than the base: they
--   are compared with the first compilation there.
-- grain: pair of runs, module of the candidate
-- materialised: no
WITH firsts AS (
  SELECT
    d.pair, d.rank, d.base_program AS called, d.base_key,
    arg_min(d, d.base_place) AS base
  FROM direct_pairs AS d
  WHERE d.base_has_assignment
  GROUP BY d.pair, d.rank, d.base_program, d.base_key
)
SELECT d.pair, d.candidate_place, f.base
FROM direct_pairs AS d
JOIN firsts AS f
  ON f.pair = d.pair
  AND f.rank IS NOT DISTINCT FROM d.rank
  AND f.base_key IS NOT DISTINCT FROM d.candidate_key
  AND f.called = d.candidate_program
WHERE d.base_place IS NULL
  AND d.candidate_has_assignment
