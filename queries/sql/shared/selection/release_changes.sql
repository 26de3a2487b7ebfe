-- title: Whether two runs were compiled by another release
-- question: How many compiler flags does only the release of one run know?
-- definition: Of runs with lists of all flags of equal kinds (run_releases):
--   names that one of them lacks. min_flags of them are another release: runs
--   of one release differ by none, of the next release by 11 or more; lists of
--   values that somebody sets by hand are few.
-- grain: pair of runs
-- param base_runs BIGINT[] = NULL from 0: Numbers of the runs to compare with.
-- param candidate_runs BIGINT[] = NULL from 0: Numbers of the runs in
--   question, in the same order.
-- param min_flags BIGINT = 5 from 1: So many are another release.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column base_flags BIGINT count neutral: Flags that only the base knows.
-- column candidate_flags BIGINT count neutral: Flags that only the candidate
--   knows.
WITH run_pairs AS MATERIALIZED (
  SELECT
    unnest(range(1, len($base_runs) + 1)) AS pair,
    unnest($base_runs) AS base_run, unnest($candidate_runs) AS own_run
),
known AS MATERIALIZED (
  SELECT
    k.run_id, k.list_kinds, string_split(k.flag_names, ' ') AS flag_names
  FROM run_releases(
    run_ids := list_distinct(list_concat($base_runs, $candidate_runs))
  ) AS k
),
counted AS (
  SELECT
    p.pair,
    len(list_filter(
      b.flag_names, lambda f: NOT list_contains(c.flag_names, f)
    )) AS lost_flags,
    len(list_filter(
      c.flag_names, lambda f: NOT list_contains(b.flag_names, f)
    )) AS new_flags
  FROM run_pairs AS p
  JOIN known AS b ON b.run_id = p.base_run
  JOIN known AS c
    ON c.run_id = p.own_run
    AND c.list_kinds = b.list_kinds
)
SELECT
  n.pair, n.lost_flags AS base_flags, n.new_flags AS candidate_flags
FROM counted AS n
WHERE n.lost_flags + n.new_flags >= $min_flags
