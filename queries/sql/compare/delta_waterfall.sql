-- title: What a change consists of
-- question: Why exactly did the reserved memory change? Parts add up to the
--   difference.
-- definition: Per pair of matched modules and colour the difference of
--   reserved_bytes, split into parameter, constant, live_out, thread_local,
--   temp_live_peak (most temporary bytes live at one step) and fragmentation
--   (temporary bytes beyond that); without live ranges the last two are one
--   part, temp. delta_bytes of all parts add up to total_delta_bytes; a colour
--   or module that one side lacks counts as 0 there.
-- grain: pair of modules, colour, part
-- leading: program, color, part, base_bytes, candidate_bytes, delta_bytes,
--   delta_ratio
-- param base
-- param candidate
-- param program
-- param only_changes BOOLEAN = true: Leave out parts without a difference.
-- column base
-- column candidate
-- column program
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column color
-- column part VARCHAR name neutral: Which part.
-- column base_bytes BIGINT bytes lower_is_better: Its bytes in the base.
-- column candidate_bytes BIGINT bytes lower_is_better: Its bytes in the
--   candidate.
-- column delta_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_ratio DOUBLE ratio neutral: Its share of total_delta_bytes.
-- column total_delta_bytes BIGINT bytes lower_is_better: Difference of
--   reserved_bytes.
WITH pairs AS (
  SELECT
    m.base AS base_run, m.candidate AS candidate_run,
    m.program AS program_name,
    coalesce(m.candidate_module_number, m.base_module_number)
      AS module_number,
    m.rank, m.base_module_id, m.candidate_module_id,
    row_number() OVER (
      ORDER BY m.program, m.rank, m.base_module_number,
        m.candidate_module_number, m.base_module_id, m.candidate_module_id
    ) AS pair
  FROM matched_modules(
    base := $base, candidate := $candidate, program := $program
  ) AS m
),
spaces AS (
  SELECT DISTINCT a.pair, p.color AS space_color
  FROM pairs AS a
  JOIN memory_profile AS p
    ON p.module_id IN (a.base_module_id, a.candidate_module_id)
),
parts AS (
  SELECT
    module_id, p.color AS space_color, reserved_bytes,
    unnest([
      'parameter', 'constant', 'live_out', 'thread_local', 'temp_live_peak',
      'fragmentation', 'temp'
    ]) AS part,
    unnest([
      parameter_bytes, constant_bytes, live_out_bytes, thread_local_bytes,
      temp_live_peak_bytes, fragmentation_bytes,
      CASE WHEN temp_live_peak_bytes IS NULL THEN temp_bytes ELSE 0 END
    ]) AS part_bytes
  FROM memory_profile AS p
),
names AS (
  SELECT unnest([
    'parameter', 'constant', 'live_out', 'thread_local', 'temp_live_peak',
    'fragmentation', 'temp'
  ]) AS part
),
deltas AS (
  SELECT
    a.base_run, a.candidate_run, a.program_name, a.module_number, a.rank,
    a.pair, s.space_color, n.part, coalesce(b.part_bytes, 0) AS base_bytes,
    coalesce(c.part_bytes, 0) AS candidate_bytes,
    coalesce(c.part_bytes, 0) - coalesce(b.part_bytes, 0) AS delta_bytes,
    coalesce(c.reserved_bytes, 0) - coalesce(b.reserved_bytes, 0)
      AS total_delta_bytes
  FROM pairs AS a
  JOIN spaces AS s USING (pair)
  CROSS JOIN names AS n
  LEFT JOIN parts AS b
    ON b.module_id = a.base_module_id
    AND b.space_color = s.space_color
    AND b.part = n.part
  LEFT JOIN parts AS c
    ON c.module_id = a.candidate_module_id
    AND c.space_color = s.space_color
    AND c.part = n.part
)
SELECT
  d.base_run AS base, d.candidate_run AS candidate, d.program_name AS program,
  d.module_number, d.rank, d.space_color AS color, d.part, d.base_bytes,
  d.candidate_bytes, d.delta_bytes,
  d.delta_bytes / nullif(d.total_delta_bytes, 0) AS delta_ratio,
  d.total_delta_bytes
FROM deltas AS d
WHERE d.delta_bytes <> 0
  OR (NOT $only_changes AND (d.base_bytes > 0 OR d.candidate_bytes > 0))
ORDER BY
  abs(d.total_delta_bytes) DESC, d.program_name, d.rank, d.pair, d.space_color,
  abs(d.delta_bytes) DESC, d.part
