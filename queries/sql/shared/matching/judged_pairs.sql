-- title: The verdict on pairs of modules
-- question: Does a module need more memory than another, in which memory
--   space, and which rule says so?
-- definition: For each memory space that either module uses, the first that
--   applies (rule in parentheses). failed: no candidate (only_in_base) or no
--   buffer assignment in it (no_buffer_assignment). new: the same for the base
--   (only_in_candidate, no_buffer_assignment). not_comparable: the platforms
--   differ (differing_keys). changed: input shapes or the number of partitions
--   differ (other_inputs). same: identical programs that use the space alike
--   (identical_artefact), equal reserved_bytes (equal_bytes), a difference
--   inside the noise band (inside_noise_band) or below a floor (below_floor):
--   less than min_delta_bytes, or less than min_delta_ratio of the smaller
--   side, or of a memory space that the compiler fills as a cache, less than
--   managed_ratio of whose limit is in use, or whose limit nobody names
--   (managed_space). mixed: reserved bytes and live peak move in opposite
--   directions, both above the floors (live_peak_opposite). worse (more_bytes)
--   or improved (fewer_bytes). A memory space that only one side uses counts
--   as 0 bytes on the other. The noise band is the widest of noise_bands for
--   the source of either module, in the run of the base and the runs of
--   earlier_ids; the candidate's own run does not count.
-- grain: pair of modules, memory space
-- param base_runs BIGINT[] = NULL from 0: run_id of each base module.
-- param base_places BIGINT[] = NULL from 0: Their places in the run, see
--   compilations; NULL for no module.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   module.
-- param candidate_places BIGINT[] = NULL from 0: Their places; NULL for no
--   module.
-- param earlier_ids
-- param min_delta_bytes
-- param min_delta_ratio
-- param managed_ratio
-- param limit_devices
-- param limit_spaces
-- param limit_bytes
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column color
-- column space_name
-- column verdict VARCHAR name neutral: worse, mixed, improved, same, changed,
--   new, failed or not_comparable.
-- column rule VARCHAR name neutral: Rule that decided the verdict, see
--   judged_pairs.
-- column base_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes in
--   the base.
-- column candidate_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes
--   in the candidate.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: The difference.
-- column base_live_peak_bytes BIGINT bytes lower_is_better: Live peak of the
--   base.
-- column candidate_live_peak_bytes BIGINT bytes lower_is_better: Live peak of
--   the candidate.
-- column delta_live_peak_bytes BIGINT bytes lower_is_better: The difference.
-- column noise_band_bytes BIGINT bytes neutral: Largest difference between
--   duplicate compilations.
-- column differing_keys VARCHAR name neutral: Differences of the inputs that
--   make the two incomparable.
-- column is_identical BOOLEAN flag neutral: Whether exact_fingerprint is the
--   same.
-- column tags VARCHAR name neutral: packing-only: the programs are identical;
--   schedule-only: their graphs are.
WITH asked AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_runs) + 1)) AS pair,
    unnest($base_runs) AS base_run_id, unnest($base_places) AS base_place,
    unnest($candidate_runs) AS own_run_id,
    unnest($candidate_places) AS own_place
),
following AS MATERIALIZED (
  SELECT
    unnest($earlier_ids) AS run_id,
    unnest(range(1, len($earlier_ids) + 1)) AS ordinal
),
compiled AS MATERIALIZED (
  SELECT c.*
  FROM compilations(run_ids := (
    SELECT
      coalesce(list_distinct(list(base_run_id) || list(own_run_id)), [])
    FROM asked
  )) AS c
),
limited AS MATERIALIZED (
  SELECT r.run_id, l.space AS limited_space, l.bytes AS space_limit
  FROM (
    SELECT
      unnest($limit_devices) AS pattern, unnest($limit_spaces) AS space,
      unnest($limit_bytes) AS bytes,
      unnest(range(1, len($limit_bytes) + 1)) AS ordinal
  ) AS l
  JOIN runs AS r ON coalesce(r.device, '') GLOB l.pattern
  WHERE r.run_id IN (SELECT own_run_id FROM asked)
  QUALIFY row_number()
    OVER (PARTITION BY r.run_id, l.space ORDER BY l.ordinal) = 1
),
pairs AS MATERIALIZED (
  SELECT
    a.pair, nullif(b.run_id, a.own_run_id) AS base_run_id,
    a.own_run_id,
    b.module_id AS base_id,
    b.program AS base_program, b.rank AS base_rank,
    b.source_exact AS base_source,
    coalesce(b.has_assignment, FALSE) AS has_base, c.module_id AS own_id,
    c.program AS own_program, c.rank AS own_rank, c.source_exact AS own_source,
    coalesce(c.has_assignment, FALSE) AS has_candidate,
    b.platform AS base_platform, c.platform AS own_platform, k.differing_keys,
    coalesce(b.exact_fingerprint = c.exact_fingerprint, FALSE)
      AS is_identical,
    coalesce(b.graph_fingerprint = c.graph_fingerprint, FALSE)
      AS is_same_graph,
    coalesce(f.ordinal, 0) AS ordinal
  FROM asked AS a
  LEFT JOIN compiled AS b
    ON b.run_id = a.base_run_id
    AND b.place = a.base_place
  LEFT JOIN compiled AS c
    ON c.run_id = a.own_run_id
    AND c.place = a.own_place
  LEFT JOIN following AS f ON f.run_id = a.own_run_id,
  LATERAL (
    SELECT d.differing_keys
    FROM differing_keys(
      base_key := b.program_key, base_shapes := b.entry_shapes,
      base_source := b.source_shapes, base_partitions := b.num_partitions,
      base_platform := b.platform, candidate_key := c.program_key,
      candidate_shapes := c.entry_shapes,
      candidate_source := c.source_shapes,
      candidate_partitions := c.num_partitions,
      candidate_platform := c.platform
    ) AS d
  ) AS k
),
bands AS MATERIALIZED (
  SELECT
    n.program AS program_name, n.rank, n.source_exact,
    n.color AS space_color, n.run_id, f.ordinal, n.width_bytes
  FROM noise_bands(
    run_ids := (
      SELECT coalesce(list(DISTINCT w.run_id), [])
      FROM (
        SELECT g.run_id FROM following AS g
        UNION ALL
        SELECT p.base_run_id FROM pairs AS p WHERE p.base_run_id IS NOT NULL
      ) AS w
    )
  ) AS n
  LEFT JOIN following AS f ON f.run_id = n.run_id
  WHERE n.width_bytes > 0
),
colors AS MATERIALIZED (
  SELECT DISTINCT p.pair, s.color AS space_color
  FROM pairs AS p
  JOIN memory_profile AS s ON s.module_id = p.base_id
  UNION
  SELECT p.pair, s.color
  FROM pairs AS p
  JOIN memory_profile AS s ON s.module_id = p.own_id
),
banded AS (
  SELECT p.pair, b.space_color, max(b.width_bytes) AS noise_band_bytes
  FROM (
    SELECT
      o.pair, o.base_run_id, o.ordinal, o.base_program AS program_name,
      o.base_rank AS rank, o.base_source AS source_exact
    FROM pairs AS o
    UNION ALL
    SELECT
      o.pair, o.base_run_id, o.ordinal, o.own_program, o.own_rank, o.own_source
    FROM pairs AS o
  ) AS p
  JOIN bands AS b
    ON b.program_name = p.program_name
    AND b.rank IS NOT DISTINCT FROM p.rank
    AND b.source_exact = p.source_exact
  WHERE b.ordinal > p.ordinal
    OR b.run_id = p.base_run_id
  GROUP BY p.pair, b.space_color
),
sides AS (
  SELECT
    p.*, c.space_color,
    coalesce(s.space_name, 'color_' || c.space_color) AS space_name,
    coalesce(n.noise_band_bytes, 0) AS noise_band_bytes,
    e.space_name IS NOT NULL AND $managed_ratio > 0 AS is_managed,
    l.space_limit,
    coalesce(b.reserved_bytes, 0) AS base_bytes,
    coalesce(d.reserved_bytes, 0) AS own_bytes,
    CASE WHEN b.module_id IS NULL THEN 0 ELSE b.live_peak_bytes END
      AS base_live,
    CASE WHEN d.module_id IS NULL THEN 0 ELSE d.live_peak_bytes END
      AS own_live,
    p.is_identical
    AND (
      b.reserved_bytes, b.parameter_bytes, b.constant_bytes, b.live_out_bytes,
      b.thread_local_bytes, b.temp_bytes, b.temp_live_peak_bytes,
      b.live_peak_bytes, b.peak_step, b.fragmentation_bytes, b.padding_bytes,
      b.conflict_count
    ) IS NOT DISTINCT FROM (
      d.reserved_bytes, d.parameter_bytes, d.constant_bytes, d.live_out_bytes,
      d.thread_local_bytes, d.temp_bytes, d.temp_live_peak_bytes,
      d.live_peak_bytes, d.peak_step, d.fragmentation_bytes, d.padding_bytes,
      d.conflict_count
    ) AS is_alike
  FROM pairs AS p
  JOIN colors AS c USING (pair)
  LEFT JOIN banded AS n
    ON n.pair = c.pair
    AND n.space_color = c.space_color
  LEFT JOIN memory_profile AS b
    ON b.module_id = p.base_id
    AND b.color = c.space_color
  LEFT JOIN memory_profile AS d
    ON d.module_id = p.own_id
    AND d.color = c.space_color
  LEFT JOIN memory_spaces AS s
    ON s.platform
      = CASE
        WHEN d.module_id IS NULL THEN p.base_platform ELSE p.own_platform
      END
    AND s.color = c.space_color
  LEFT JOIN managed_spaces() AS e
    ON e.platform = s.platform
    AND e.space_name = s.space_name
  LEFT JOIN limited AS l
    ON l.run_id = p.own_run_id
    AND l.limited_space = s.space_name
),
counted AS (
  SELECT
    s.*, s.own_bytes - s.base_bytes AS delta,
    s.own_live - s.base_live AS live_delta,
    abs(s.own_bytes - s.base_bytes) >= $min_delta_bytes
      AND abs(s.own_bytes - s.base_bytes)
        >= $min_delta_ratio * least(s.base_bytes, s.own_bytes) AS is_counted,
    coalesce(
      s.own_live <> s.base_live
      AND abs(s.own_live - s.base_live) >= $min_delta_bytes
      AND abs(s.own_live - s.base_live)
        >= $min_delta_ratio * least(s.base_live, s.own_live), FALSE
    ) AS is_live_counted,
    s.is_managed
    AND coalesce(s.own_bytes < $managed_ratio * s.space_limit, TRUE)
      AS is_settled
  FROM sides AS s
),
ruled AS (
  SELECT
    c.*,
    CASE
      WHEN c.own_id IS NULL THEN 'only_in_base'
      WHEN NOT c.has_candidate THEN 'no_buffer_assignment'
      WHEN c.base_id IS NULL THEN 'only_in_candidate'
      WHEN NOT c.has_base THEN 'no_buffer_assignment'
      WHEN contains(c.differing_keys, 'platform') THEN 'differing_keys'
      WHEN c.differing_keys <> '' AND NOT c.is_settled THEN 'other_inputs'
      WHEN c.is_alike THEN 'identical_artefact'
      WHEN c.delta = 0 THEN 'equal_bytes'
      WHEN abs(c.delta) <= c.noise_band_bytes THEN 'inside_noise_band'
      WHEN NOT c.is_counted THEN 'below_floor'
      WHEN c.is_settled THEN 'managed_space'
      WHEN c.is_live_counted AND sign(c.live_delta) <> sign(c.delta)
        THEN 'live_peak_opposite'
      WHEN c.delta > 0 THEN 'more_bytes'
      ELSE 'fewer_bytes'
    END AS rule
  FROM counted AS c
)
SELECT
  j.pair, j.space_color AS color, j.space_name,
  CASE
    WHEN NOT j.has_candidate THEN 'failed'
    WHEN NOT j.has_base THEN 'new'
    WHEN j.rule = 'differing_keys' THEN 'not_comparable'
    WHEN j.rule = 'other_inputs' THEN 'changed'
    WHEN j.rule = 'live_peak_opposite' THEN 'mixed'
    WHEN j.rule = 'more_bytes' THEN 'worse'
    WHEN j.rule = 'fewer_bytes' THEN 'improved'
    ELSE 'same'
  END AS verdict,
  j.rule, CASE WHEN j.has_base THEN j.base_bytes END AS base_reserved_bytes,
  CASE WHEN j.has_candidate THEN j.own_bytes END AS candidate_reserved_bytes,
  CASE WHEN j.has_base AND j.has_candidate THEN j.delta END
    AS delta_reserved_bytes,
  CASE WHEN j.has_base THEN j.base_live END AS base_live_peak_bytes,
  CASE WHEN j.has_candidate THEN j.own_live END AS candidate_live_peak_bytes,
  CASE WHEN j.has_base AND j.has_candidate THEN j.live_delta END
    AS delta_live_peak_bytes,
  j.noise_band_bytes,
  CASE
    WHEN j.base_id IS NOT NULL AND j.own_id IS NOT NULL THEN j.differing_keys
  END AS differing_keys,
  j.is_identical,
  CASE
    WHEN j.base_id IS NULL OR j.own_id IS NULL
      OR j.rule IN ('identical_artefact', 'no_buffer_assignment') THEN NULL
    WHEN j.is_identical THEN 'packing-only'
    WHEN j.is_same_graph THEN 'schedule-only'
  END AS tags
FROM ruled AS j
