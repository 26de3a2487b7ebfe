-- title: Since when programs differ
-- question: Since which run does a program need more or less memory than in
--   the base, and which commit brought that?
-- definition: Verdicts of judged_modules but same, each with the run since
--   which the difference stands, by pair_histories, as in hlodb report. The
--   history is the candidate and the latest 90 runs before it that base_choice
--   follows. The cause lies between commit_before and first_commit.
-- grain: pair of modules, memory space
-- leading: program, space_name, verdict, delta_reserved_bytes, run_before,
--   first_run, undone_run, first_commit
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs with this
--   program on at least one side; NULL for all.
-- param min_delta_bytes
-- param min_delta_ratio
-- param managed_ratio
-- param limit_devices
-- param limit_spaces
-- param limit_bytes
-- param follow
-- column base
-- column candidate
-- column program
-- column base_program VARCHAR name neutral: Name of the program in the base,
--   if different.
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column color
-- column space_name
-- column verdict VARCHAR name neutral: worse, mixed, improved, changed, new,
--   failed, recovered or not_comparable.
-- column rule VARCHAR name neutral: Rule that decided the verdict, see
--   judged_pairs.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: Candidate minus
--   base.
-- column first_run VARCHAR name neutral: Run since which the difference
--   stands.
-- column run_before VARCHAR name neutral: Last run before that with the
--   program, or else the base; NULL without a base.
-- column undone_run VARCHAR name neutral: Run with the rise that an
--   improvement undoes; NULL if there is none.
-- column commit_before VARCHAR name neutral: Commit of run_before.
-- column first_commit VARCHAR name neutral: Commit of first_run.
WITH judged AS MATERIALIZED (
  SELECT row_number() OVER () AS pair_number, m.*
  FROM judged_modules() AS m
  WHERE m.verdict <> 'same'
),
candidates AS MATERIALIZED (
  SELECT p.candidate_run_id, p.candidate FROM selected_pair() AS p
),
past AS MATERIALIZED (
  SELECT c.run_id, c.place
  FROM base_choice(candidate := (SELECT x.candidate FROM candidates AS x)) AS c
  WHERE c.is_followed
  ORDER BY c.place
  LIMIT 90
),
histories AS (
  SELECT h.*
  FROM pair_histories(
    base_runs := (
      SELECT list(j.base_run_id ORDER BY j.pair_number) FROM judged AS j
    ),
    base_places := (
      SELECT list(j.base_place ORDER BY j.pair_number) FROM judged AS j
    ),
    candidate_runs := (
      SELECT list(x.candidate_run_id ORDER BY j.pair_number)
      FROM judged AS j
      CROSS JOIN candidates AS x
    ),
    candidate_places := (
      SELECT list(j.candidate_place ORDER BY j.pair_number) FROM judged AS j
    ),
    run_ids := (
      SELECT coalesce(list(y.run_id ORDER BY y.place DESC), [])
        || [(SELECT x.candidate_run_id FROM candidates AS x)]
      FROM past AS y
    )
  ) AS h
)
SELECT
  j.base, j.candidate, j.program, j.base_program, j.module_number, j.rank,
  j.color, j.space_name, j.verdict, j.rule, j.delta_reserved_bytes,
  f.name AS first_run, b.name AS run_before, u.name AS undone_run,
  b.commit_sha AS commit_before, f.commit_sha AS first_commit
FROM judged AS j
JOIN histories AS h
  ON h.pair = j.pair_number
  AND h.color = j.color
LEFT JOIN runs AS f ON f.run_id = h.first_run_id
LEFT JOIN runs AS b ON b.run_id = h.before_run_id
LEFT JOIN runs AS u ON u.run_id = h.undone_run_id
ORDER BY
  abs(j.delta_reserved_bytes) DESC NULLS LAST, j.program, j.rank,
  j.module_number, j.color, j.base_module_id, j.candidate_module_id
