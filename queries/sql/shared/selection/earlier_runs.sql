-- title: Runs that a run can be compared with
-- question: Which runs before a candidate are of the same platform, device and
--   series, on the branch that it follows, and sound?
-- definition: Runs before the candidate (run_order) whose platform is the
--   same, or not known, and whose device may be (same_device). A run of the
--   main branch follows the runs of main and of unknown branch; one of another
--   branch follows these and its own, or all where nothing is of main. Of
--   these (is_followed), and of all (is_comparable), those of the candidate's
--   series, where it has some; outside of a series those that hold one of its
--   programs, where some do. The branch is that of the run, else its label
--   branch. Without a candidate: the latest run that some run before may be of
--   the same platform and device as.
-- grain: run
-- param candidate
-- param main_branch
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column candidate
-- column run_id
-- column run
-- column place BIGINT id neutral: 1 for the latest before the candidate.
-- column is_followed BOOLEAN flag neutral: Whether it is of the history that
--   the candidate follows.
-- column is_comparable BOOLEAN flag neutral: Whether it could be, on any
--   branch.
-- column is_main BOOLEAN flag neutral: Whether it says that it is of the main
--   branch.
-- column is_of_branch BOOLEAN flag neutral: Whether the candidate is of
--   another branch than main.
-- column is_fork_point BOOLEAN flag neutral: Whether its commit is that of the
--   candidate's label fork_point.
-- column is_accepted BOOLEAN flag neutral: Whether it is labelled
--   accepted=true.
WITH ordered AS MATERIALIZED (
  SELECT
    o.run_id, o.run AS run_name, o.series AS run_series, o.place, o.platform,
    o.device, r.commit_sha,
    coalesce(nullif(r.branch, ''), r.labels ->> '$.branch') AS branch,
    nullif(r.labels ->> '$.fork_point', '') AS fork_point,
    coalesce(lower(r.labels ->> '$.accepted') = 'true', FALSE) AS is_accepted
  FROM run_order() AS o
  JOIN runs AS r USING (run_id)
),
machines AS (
  -- Runs are many, their devices few.
  SELECT o.platform, o.device, max(o.place) AS first_place
  FROM ordered AS o
  GROUP BY o.platform, o.device
),
alike AS MATERIALIZED (
  SELECT
    a.platform, a.device, b.platform AS other_platform,
    b.device AS other_device, b.first_place
  FROM machines AS a
  CROSS JOIN machines AS b,
  LATERAL (
    SELECT d.may_be_same
    FROM same_device(one := a.device, other := b.device) AS d
  ) AS s
  WHERE s.may_be_same
    AND coalesce(a.platform = b.platform, TRUE)
),
own AS MATERIALIZED (
  SELECT o.*
  FROM ordered AS o
  WHERE o.run_name = $candidate
    OR (
      $candidate IS NULL
      AND EXISTS (
        SELECT 1
        FROM alike AS a
        WHERE a.platform IS NOT DISTINCT FROM o.platform
          AND a.device IS NOT DISTINCT FROM o.device
          AND a.first_place > o.place
      )
    )
  ORDER BY o.place
  LIMIT 1
),
programs AS (
  SELECT DISTINCT m.program AS program_name
  FROM own
  JOIN modules AS m USING (run_id)
  WHERE m.has_assignment
),
before AS (
  SELECT
    r.*, c.run_id AS own_run_id, c.run_name AS own_name,
    c.branch AS own_branch,
    coalesce(r.branch = $main_branch, TRUE) AS is_on_main,
    r.branch IS NOT DISTINCT FROM c.branch AS is_own_branch,
    r.run_series IS NOT DISTINCT FROM c.run_series AS is_in_series,
    c.run_series IS NOT NULL
      AND r.run_series IS NOT DISTINCT FROM c.run_series AS is_of_same,
    coalesce(starts_with(r.commit_sha, c.fork_point), FALSE) AS is_fork_point
  FROM own AS c
  JOIN ordered AS r ON r.place > c.place
  JOIN alike AS a
    ON a.platform IS NOT DISTINCT FROM c.platform
    AND a.device IS NOT DISTINCT FROM c.device
    AND a.other_platform IS NOT DISTINCT FROM r.platform
    AND a.other_device IS NOT DISTINCT FROM r.device
),
-- Outside of a series any run may be of something else entirely.
sharing AS (
  SELECT DISTINCT b.run_id
  FROM before AS b
  JOIN modules AS m USING (run_id)
  JOIN programs AS p ON p.program_name = m.program
  WHERE m.has_assignment
    AND NOT b.is_of_same
),
followed AS (
  SELECT
    b.*, s.run_id IS NOT NULL OR b.is_of_same AS is_shared,
    CASE
      WHEN b.own_branch = $main_branch THEN b.is_on_main
      WHEN bool_or(b.is_on_main) OVER () THEN b.is_on_main OR b.is_own_branch
      ELSE TRUE
    END AS is_on_line
  FROM before AS b
  LEFT JOIN sharing AS s USING (run_id)
),
tiers AS (
  SELECT
    f.*,
    CASE
      WHEN f.is_in_series AND f.is_shared THEN 1
      WHEN f.is_in_series THEN 2
      WHEN f.is_shared THEN 3
      ELSE 4
    END AS tier
  FROM followed AS f
)
SELECT
  t.own_run_id AS candidate_run_id, t.own_name AS candidate, t.run_id,
  t.run_name AS run, row_number() OVER (ORDER BY t.place) AS place,
  t.is_on_line
    AND t.tier = min(t.tier) FILTER (WHERE t.is_on_line) OVER ()
    AS is_followed,
  t.tier = min(t.tier) OVER () AS is_comparable,
  coalesce(t.branch = $main_branch, FALSE) AS is_main,
  coalesce(t.own_branch <> $main_branch, FALSE) AS is_of_branch,
  t.is_fork_point, t.is_accepted
FROM tiers AS t
