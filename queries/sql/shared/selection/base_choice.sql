-- title: Baseline of a run
-- question: Which run is a candidate compared with by default, and why?
-- definition: Of earlier_runs, unsound ones left out (unsound_runs) unless all
--   are. previous: the latest that is followed. auto: where the commit of one
--   is the candidate's label fork_point, that run; else, for a candidate of
--   another branch than main, the latest run of main; else the latest labelled
--   accepted=true; else the latest that is followed; of several runs of its
--   commit, the latest that the candidate's release compiled, if any
--   (run_releases). window: the latest so many that are followed, the last of
--   them the base; a program is compared with its best of them in each memory
--   space. Rows are the runs of the history too, to be followed from one to
--   the next; the base comes first, then the latest.
-- grain: run
-- param candidate
-- param rule VARCHAR = 'auto' in auto, previous, window: Rule that selects the
--   base.
-- param main_branch
-- param window_runs BIGINT = 7 from 1: Runs of a window.
-- param max_rejects
-- param consistency
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column candidate
-- column run_id
-- column run
-- column place BIGINT id neutral: 1 for the latest before the candidate.
-- column is_base BOOLEAN flag neutral: Whether it is the base.
-- column is_in_window BOOLEAN flag neutral: Whether it is in the window.
-- column is_followed BOOLEAN flag neutral: Whether it is a run of the history
--   that the candidate follows, and sound.
-- column is_passed_over BOOLEAN flag neutral: Whether it would be, were it
--   sound.
-- column reason VARCHAR name neutral: Why it is the base: fork_point,
--   main_branch, accepted, latest or window; NULL where it is not.
WITH earlier AS MATERIALIZED (
  SELECT *
  FROM earlier_runs(candidate := $candidate, main_branch := $main_branch)
),
unsound AS (
  SELECT u.run_id
  FROM unsound_runs(
    max_rejects := $max_rejects, consistency := $consistency,
    run_ids := (SELECT coalesce(list(e.run_id), []) FROM earlier AS e)
  ) AS u
),
-- Several runs of one commit may be of several releases.
commits AS (
  SELECT
    e.run_id, r.commit_sha,
    count(*) OVER (PARTITION BY r.commit_sha) AS commit_runs
  FROM earlier AS e
  JOIN runs AS r USING (run_id)
  WHERE r.commit_sha IS NOT NULL
),
releases AS MATERIALIZED (
  SELECT k.run_id, k.list_kinds, k.flag_names
  FROM run_releases(run_ids := (
    SELECT list_concat(
      coalesce(list(c.run_id), []),
      (SELECT list(DISTINCT e.candidate_run_id) FROM earlier AS e)
    )
    FROM commits AS c
    WHERE c.commit_runs > 1
  )) AS k
),
of_release AS (
  SELECT k.run_id, c.commit_sha
  FROM releases AS k
  JOIN commits AS c USING (run_id)
  JOIN releases AS o
    ON o.list_kinds = k.list_kinds
    AND o.flag_names = k.flag_names
  WHERE o.run_id IN (SELECT e.candidate_run_id FROM earlier AS e)
),
judged AS (
  SELECT
    e.*, c.commit_sha, o.run_id IS NOT NULL AS is_of_release,
    u.run_id IS NULL AS is_sound,
    coalesce(
      bool_or(u.run_id IS NULL) FILTER (WHERE e.is_followed) OVER (), FALSE
    ) AS has_sound_line,
    coalesce(
      bool_or(u.run_id IS NULL) FILTER (WHERE e.is_comparable) OVER (), FALSE
    ) AS has_sound
  FROM earlier AS e
  LEFT JOIN unsound AS u USING (run_id)
  LEFT JOIN commits AS c USING (run_id)
  LEFT JOIN of_release AS o USING (run_id)
),
sound AS (
  SELECT
    j.*, j.is_followed AND (j.is_sound OR NOT j.has_sound_line) AS is_on_line,
    j.is_comparable AND (j.is_sound OR NOT j.has_sound) AS is_possible
  FROM judged AS j
),
reasons AS (
  SELECT
    s.*,
    row_number() OVER (PARTITION BY s.is_on_line ORDER BY s.place) AS nth,
    CASE
      WHEN $rule = 'auto' AND s.is_fork_point AND s.is_possible
        AND bool_or(s.is_on_line) OVER () THEN 1
      WHEN NOT s.is_on_line THEN NULL
      WHEN $rule = 'auto' AND s.is_of_branch AND s.is_main THEN 2
      WHEN $rule = 'auto' AND s.is_accepted THEN 3
      ELSE 4
    END AS urgency
  FROM sound AS s
),
of_commits AS (
  SELECT
    r.*,
    CASE WHEN $rule <> 'auto' THEN r.place ELSE min(r.place) OVER (
      PARTITION BY r.urgency, coalesce(r.commit_sha, '#' || r.run_id)
    ) END AS commit_place
  FROM reasons AS r
),
placed AS (
  SELECT
    r.*,
    row_number() OVER (
      ORDER BY
        r.urgency NULLS LAST, r.commit_place, NOT r.is_of_release, r.place
    ) = 1 AND r.urgency IS NOT NULL AS is_first
  FROM of_commits AS r
),
lined AS (
  -- A run of the base's commit by another release is no run in between.
  SELECT
    p.*,
    p.is_on_line AND NOT coalesce(
      $rule = 'auto' AND NOT p.is_of_release AND p.commit_sha = max(
        p.commit_sha
      ) FILTER (WHERE p.is_first AND p.is_of_release) OVER (), FALSE
    ) AS is_in_history
  FROM placed AS p
)
SELECT
  p.candidate_run_id, p.candidate, p.run_id, p.run, p.place,
  p.is_first AS is_base,
  $rule = 'window' AND p.is_on_line AND p.nth <= $window_runs AS is_in_window,
  p.is_in_history AS is_followed, p.is_followed AND NOT p.is_on_line
    AS is_passed_over,
  CASE
    WHEN NOT p.is_first THEN NULL
    WHEN $rule = 'window' THEN 'window'
    ELSE ['fork_point', 'main_branch', 'accepted', 'latest'][p.urgency]
  END AS reason
FROM lined AS p
ORDER BY is_base DESC, p.place
