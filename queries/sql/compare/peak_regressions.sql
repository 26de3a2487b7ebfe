-- title: What got worse
-- question: Which programs need more memory than in the run before, in which
--   memory space, and by how much?
-- definition: Modules of two runs matched by program, entry shapes, partitions
--   and rank; per colour the difference of reserved_bytes and of
--   live_peak_bytes. A colour that only one side has counts as 0 bytes on the
--   other. Verdict, the first that holds: new, gone; not_comparable (entry
--   shapes or partitions differ); same by identical_program (exact_fingerprint
--   is equal: it can't regress); same by equal_bytes; same by below_floor (no
--   difference is above both floors); worse, improved, or mixed (one figure
--   up, the other down).
-- grain: pair of modules, colour
-- needs: matched_modules, chosen_pair, hosts, memory_profile, memory_spaces,
--   runs
-- param base
-- param candidate
-- param program
-- param min_delta_bytes BIGINT = 0 from 0: A difference counts only above this
--   many bytes …
-- param min_delta_ratio DOUBLE = 0.0 from 0: … and above this share of the
--   base.
-- column base
-- column candidate
-- column program
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column module_count BIGINT count neutral: Pairs of equal modules that the
--   row stands for, as of hosts whose ranks are not known.
-- column color
-- column space_name
-- column verdict VARCHAR name neutral: worse, mixed, improved, same, new, gone
--   or not_comparable.
-- column rule VARCHAR name neutral: What decided the verdict.
-- column base_reserved_bytes BIGINT bytes lower_is_better: Reserved in the
--   base.
-- column candidate_reserved_bytes BIGINT bytes lower_is_better: In the
--   candidate.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_reserved_ratio DOUBLE ratio lower_is_better: Its share of the
--   base.
-- column base_live_peak_bytes BIGINT bytes lower_is_better: Live peak of the
--   base.
-- column candidate_live_peak_bytes BIGINT bytes lower_is_better: Of the
--   candidate.
-- column delta_live_peak_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_live_peak_ratio DOUBLE ratio lower_is_better: Its share of the
--   base.
-- column hosts VARCHAR name neutral: Folders of the hosts that the row stands
--   for, where no rank but the folder alone tells them.
WITH judged_pair AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT * FROM chosen_pair(base := $base, candidate := $candidate)
),
folders AS (
  FROM hosts(run := (SELECT p.base FROM judged_pair AS p))
  UNION
  FROM hosts(run := (SELECT p.candidate FROM judged_pair AS p))
),
hosted AS (
  -- The host takes the folder's place: one EXCLUDE has one column, as DuckDB
  -- keeps several in no order.
  SELECT
    m.* EXCLUDE (base_folder)
      REPLACE (coalesce(c.host, b.host) AS candidate_folder)
  FROM matched_modules(
    base := coalesce($base, (SELECT p.base FROM judged_pair AS p)),
    candidate := coalesce(
      $candidate, (SELECT p.candidate FROM judged_pair AS p)
    ),
    program := $program
  ) AS m
  LEFT JOIN folders AS b
    ON b.run_id = m.base_run_id
    AND b.folder = m.base_folder
  LEFT JOIN folders AS c
    ON c.run_id = m.candidate_run_id
    AND c.folder = m.candidate_folder
),
alike AS (
  SELECT
    h.* EXCLUDE (candidate_folder), count(*) AS module_count,
    string_agg(DISTINCT h.candidate_folder, ', ' ORDER BY h.candidate_folder)
      AS hosts
  FROM hosted AS h
  GROUP BY ALL
),
colors AS (
  SELECT
    m.*, p.color AS space_color
  FROM alike AS m
  JOIN (
    SELECT DISTINCT module_id, memory_profile.color FROM memory_profile
  ) AS p ON p.module_id IN (m.base_module_id, m.candidate_module_id)
  GROUP BY ALL
),
sides AS (
  SELECT
    m.base AS base_run, m.candidate AS candidate_run,
    m.program AS program_name,
    m.rank, m.module_count, m.hosts, m.space_color,
    coalesce(s.space_name, 'color_' || m.space_color) AS space_name,
    m.base_module_number AS base_number,
    m.candidate_module_number AS candidate_number,
    m.base_module_id, m.candidate_module_id, m.is_comparable, m.is_identical,
    CASE WHEN m.base_module_id IS NOT NULL
      THEN coalesce(b.reserved_bytes, 0) END AS base_reserved_bytes,
    CASE WHEN m.candidate_module_id IS NOT NULL
      THEN coalesce(c.reserved_bytes, 0) END AS candidate_reserved_bytes,
    CASE WHEN m.base_module_id IS NOT NULL AND b.module_id IS NULL
      THEN 0 ELSE b.live_peak_bytes END AS base_live_peak_bytes,
    CASE WHEN m.candidate_module_id IS NOT NULL AND c.module_id IS NULL
      THEN 0 ELSE c.live_peak_bytes END AS candidate_live_peak_bytes
  FROM colors AS m
  LEFT JOIN memory_profile AS b
    ON b.module_id = m.base_module_id
    AND b.color = m.space_color
  LEFT JOIN memory_profile AS c
    ON c.module_id = m.candidate_module_id
    AND c.color = m.space_color
  LEFT JOIN runs AS r
    ON r.run_id = coalesce(m.candidate_run_id, m.base_run_id)
  LEFT JOIN memory_spaces AS s
    ON s.platform = coalesce(m.platform, r.platform)
    AND s.color = m.space_color
),
deltas AS (
  SELECT
    *,
    candidate_reserved_bytes - base_reserved_bytes AS reserved_delta,
    candidate_live_peak_bytes - base_live_peak_bytes AS live_delta
  FROM sides
),
counted AS (
  SELECT
    *,
    CASE
      WHEN abs(reserved_delta) > $min_delta_bytes
        AND abs(reserved_delta) > $min_delta_ratio * base_reserved_bytes
      THEN sign(reserved_delta) ELSE 0
    END AS reserved_sign,
    CASE
      WHEN abs(live_delta) > $min_delta_bytes
        AND abs(live_delta) > $min_delta_ratio * base_live_peak_bytes
      THEN sign(live_delta) ELSE 0
    END AS live_sign
  FROM deltas
),
judged AS (
  SELECT
    *,
    CASE
      WHEN base_module_id IS NULL THEN 'only_in_candidate'
      WHEN candidate_module_id IS NULL THEN 'only_in_base'
      WHEN NOT is_comparable THEN 'other_entry_shapes'
      WHEN is_identical THEN 'identical_program'
      WHEN reserved_delta = 0 AND coalesce(live_delta, 0) = 0
        THEN 'equal_bytes'
      WHEN reserved_sign = 0 AND live_sign = 0 THEN 'below_floor'
      WHEN reserved_sign * live_sign < 0 THEN 'opposite_signs'
      WHEN reserved_sign + live_sign > 0 THEN 'more_bytes'
      ELSE 'fewer_bytes'
    END AS rule
  FROM counted
)
SELECT
  j.base_run AS base, j.candidate_run AS candidate, j.program_name AS program,
  coalesce(j.candidate_number, j.base_number) AS module_number, j.rank,
  j.module_count, j.space_color AS color, j.space_name,
  CASE j.rule
    WHEN 'only_in_candidate' THEN 'new'
    WHEN 'only_in_base' THEN 'gone'
    WHEN 'other_entry_shapes' THEN 'not_comparable'
    WHEN 'opposite_signs' THEN 'mixed'
    WHEN 'more_bytes' THEN 'worse'
    WHEN 'fewer_bytes' THEN 'improved'
    ELSE 'same'
  END AS verdict,
  j.rule, j.base_reserved_bytes, j.candidate_reserved_bytes,
  j.reserved_delta AS delta_reserved_bytes,
  j.reserved_delta / nullif(j.base_reserved_bytes, 0) AS delta_reserved_ratio,
  j.base_live_peak_bytes, j.candidate_live_peak_bytes,
  j.live_delta AS delta_live_peak_bytes,
  j.live_delta / nullif(j.base_live_peak_bytes, 0) AS delta_live_peak_ratio,
  j.hosts
FROM judged AS j
ORDER BY
  CASE verdict
    WHEN 'worse' THEN 1 WHEN 'mixed' THEN 2 WHEN 'improved' THEN 3
    WHEN 'new' THEN 4 WHEN 'gone' THEN 5 WHEN 'not_comparable' THEN 6 ELSE 7
  END,
  greatest(abs(j.reserved_delta), abs(j.live_delta)) DESC NULLS LAST,
  j.program_name, j.rank, j.base_number, j.candidate_number, j.space_color,
  j.base_module_id, j.candidate_module_id
