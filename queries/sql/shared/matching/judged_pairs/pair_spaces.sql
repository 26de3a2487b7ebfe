-- step: Bytes of both sides, the noise between duplicate compilations, and
--   whether the compiler fills the space as it likes.
-- grain: pair, memory space
-- materialised: no
WITH bands AS MATERIALIZED (
  SELECT
    n.program AS program_name, n.rank, n.source_exact,
    n.color AS space_color, n.run_id, f.ordinal, n.width_bytes
  FROM noise_bands(
    run_ids := (
      SELECT coalesce(list(DISTINCT w.run_id), [])
      FROM (
        SELECT g.run_id FROM followed_runs AS g
        UNION ALL
        SELECT p.base_run_id
        FROM compared_pairs AS p WHERE p.base_run_id IS NOT NULL
      ) AS w
    )
  ) AS n
  LEFT JOIN followed_runs AS f ON f.run_id = n.run_id
  WHERE n.width_bytes > 0
),
used_spaces AS MATERIALIZED (
  SELECT DISTINCT p.pair, s.color AS space_color
  FROM compared_pairs AS p
  JOIN memory_profile AS s ON s.module_id = p.base_id
  UNION
  SELECT p.pair, s.color
  FROM compared_pairs AS p
  JOIN memory_profile AS s ON s.module_id = p.candidate_id
),
noise_of_pairs AS (
  SELECT p.pair, b.space_color, max(b.width_bytes) AS noise_band_bytes
  FROM (
    SELECT
      o.pair, o.base_run_id, o.ordinal, o.base_program AS program_name,
      o.base_rank AS rank, o.base_source AS source_exact
    FROM compared_pairs AS o
    UNION ALL
    SELECT
      o.pair, o.base_run_id, o.ordinal, o.candidate_program, o.candidate_rank,
      o.candidate_source
    FROM compared_pairs AS o
  ) AS p
  JOIN bands AS b
    ON b.program_name = p.program_name
    AND b.rank IS NOT DISTINCT FROM p.rank
    AND b.source_exact = p.source_exact
  WHERE b.ordinal > p.ordinal
    OR b.run_id = p.base_run_id
  GROUP BY p.pair, b.space_color
)
SELECT
  p.*, c.space_color,
  coalesce(s.space_name, 'color_' || c.space_color) AS space_name,
  coalesce(n.noise_band_bytes, 0) AS noise_band_bytes,
  e.space_name IS NOT NULL AND $managed_ratio > 0 AS is_managed,
  l.space_limit,
  coalesce(b.reserved_bytes, 0) AS base_bytes,
  coalesce(d.reserved_bytes, 0) AS candidate_bytes,
  CASE WHEN b.module_id IS NULL THEN 0 ELSE b.live_peak_bytes END
    AS base_live,
  CASE WHEN d.module_id IS NULL THEN 0 ELSE d.live_peak_bytes END
    AS candidate_live,
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
FROM compared_pairs AS p
JOIN used_spaces AS c USING (pair)
LEFT JOIN noise_of_pairs AS n
  ON n.pair = c.pair
  AND n.space_color = c.space_color
LEFT JOIN memory_profile AS b
  ON b.module_id = p.base_id
  AND b.color = c.space_color
LEFT JOIN memory_profile AS d
  ON d.module_id = p.candidate_id
  AND d.color = c.space_color
LEFT JOIN memory_spaces AS s
  ON s.platform
    = CASE
      WHEN d.module_id IS NULL THEN p.base_platform ELSE p.candidate_platform
    END
  AND s.color = c.space_color
LEFT JOIN managed_spaces() AS e
  ON e.platform = s.platform
  AND e.space_name = s.space_name
LEFT JOIN space_limits AS l
  ON l.run_id = p.candidate_run_id
  AND l.limited_space = s.space_name
