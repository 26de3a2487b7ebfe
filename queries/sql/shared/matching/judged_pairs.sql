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
-- steps: asked_pairs, followed_runs, space_limits, compared_pairs, pair_spaces
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
WITH counted AS (
  SELECT
    s.*, s.candidate_bytes - s.base_bytes AS delta,
    s.candidate_live - s.base_live AS live_delta,
    abs(s.candidate_bytes - s.base_bytes) >= $min_delta_bytes
      AND abs(s.candidate_bytes - s.base_bytes)
        >= $min_delta_ratio * least(s.base_bytes, s.candidate_bytes)
          AS is_counted,
    coalesce(
      s.candidate_live <> s.base_live
      AND abs(s.candidate_live - s.base_live) >= $min_delta_bytes
      AND abs(s.candidate_live - s.base_live)
        >= $min_delta_ratio * least(s.base_live, s.candidate_live), FALSE
    ) AS is_live_counted,
    s.is_managed
    AND coalesce(s.candidate_bytes < $managed_ratio * s.space_limit, TRUE)
      AS is_settled
  FROM pair_spaces AS s
),
ruled AS (
  SELECT
    c.*,
    CASE
      WHEN c.candidate_id IS NULL THEN 'only_in_base'
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
  CASE WHEN j.has_candidate
    THEN j.candidate_bytes END AS candidate_reserved_bytes,
  CASE WHEN j.has_base AND j.has_candidate THEN j.delta END
    AS delta_reserved_bytes,
  CASE WHEN j.has_base THEN j.base_live END AS base_live_peak_bytes,
  CASE WHEN j.has_candidate
    THEN j.candidate_live END AS candidate_live_peak_bytes,
  CASE WHEN j.has_base AND j.has_candidate THEN j.live_delta END
    AS delta_live_peak_bytes,
  j.noise_band_bytes,
  CASE
    WHEN j.base_id IS NOT NULL AND j.candidate_id IS NOT NULL
      THEN j.differing_keys
  END AS differing_keys,
  j.is_identical,
  CASE
    WHEN j.base_id IS NULL OR j.candidate_id IS NULL
      OR j.rule IN ('identical_artefact', 'no_buffer_assignment') THEN NULL
    WHEN j.is_identical THEN 'packing-only'
    WHEN j.is_same_graph THEN 'schedule-only'
  END AS tags
FROM ruled AS j
