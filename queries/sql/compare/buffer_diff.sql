-- title: Buffers that changed
-- question: Which buffers are new, gone, larger, longer-lived or in another
--   memory space, and what do they do to the peak?
-- definition: Values of two runs matched by matched_values. delta_peak_bytes
--   is the difference of a value's own bytes at the live peak of its colour,
--   base and candidate each at its own peak; with the rows of status uncovered
--   (room of parameters, constants and live-outs that no value covers) it adds
--   up to the difference of live_peak_bytes over all colours of a pair of
--   modules. status, the first that holds: new, gone, uncovered, moved (other
--   memory space), resized (other dimensions), retyped (other element type),
--   repadded (other room), at_peak_now, not_at_peak_now, shared (owns other
--   bytes at the peak), lifetime (other live steps), same.
-- grain: pair of values
-- leading: program, status, instruction, shape, candidate_peak_bytes,
--   delta_peak_bytes, source_file, source_line
-- param base
-- param candidate
-- param program
-- param only_peak BOOLEAN = true: Only buffers that own bytes of either peak.
-- param only_changes BOOLEAN = true: Leave out buffers that are the same.
-- param top BIGINT = 100 from 0: At most this many rows; NULL for all.
-- column program
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column status VARCHAR name neutral: What happened to it.
-- column color INTEGER id neutral: Memory space in the candidate, else in the
--   base.
-- column base_instruction VARCHAR name neutral: Instruction in the base.
-- column instruction VARCHAR name neutral: Instruction in the candidate.
-- column shape_index
-- column opcode
-- column base_shape VARCHAR text neutral: Shape in the base.
-- column shape VARCHAR text neutral: Shape in the candidate.
-- column base_bytes BIGINT bytes lower_is_better: Room in the base.
-- column candidate_bytes BIGINT bytes lower_is_better: Room in the candidate.
-- column delta_bytes BIGINT bytes lower_is_better: The difference.
-- column base_peak_bytes BIGINT bytes lower_is_better: Own bytes at the peak
--   of the base.
-- column candidate_peak_bytes BIGINT bytes lower_is_better: The same of the
--   candidate.
-- column delta_peak_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_life_ratio DOUBLE ratio lower_is_better: Difference of live
--   steps, each as a share of its schedule.
-- column match_method VARCHAR name neutral: parameter, name, path, similar or
--   none.
-- column match_confidence DOUBLE score higher_is_better: 1 for sure, 0 for
--   none.
-- column op_name
-- column source_file
-- column source_line
WITH the_pair AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT * FROM selected_pair(base := $base, candidate := $candidate)
),
-- Where a pair is of one content, nothing differs: a night brings few others.
looked_at AS MATERIALIZED (
  SELECT coalesce(list(DISTINCT m.module_id), []) AS module_ids
  FROM (
    SELECT unnest([p.base_module_id, p.candidate_module_id]) AS module_id
    FROM matched_modules(
      base := coalesce($base, (SELECT c.base FROM the_pair AS c)),
      candidate := coalesce(
        $candidate, (SELECT c.candidate FROM the_pair AS c)
      ),
      program := $program
    ) AS p
    WHERE NOT $only_changes
      OR p.base_module_id IS DISTINCT FROM p.candidate_module_id
  ) AS m
  WHERE m.module_id IS NOT NULL
),
lengths AS (
  SELECT module_id, max(to_step) + 1 AS step_count
  FROM memory_timeline
  GROUP BY module_id
),
base_places AS (
  SELECT v.*, (v.end_step - v.start_step + 1) / l.step_count AS life
  FROM value_places(
    run := (SELECT c.base FROM the_pair AS c),
    program := NULL,
    module_ids := (SELECT o.module_ids FROM looked_at AS o)
  ) AS v
  LEFT JOIN lengths AS l USING (module_id)
),
candidate_places AS (
  SELECT v.*, (v.end_step - v.start_step + 1) / l.step_count AS life
  FROM value_places(
    run := (SELECT c.candidate FROM the_pair AS c),
    program := NULL,
    module_ids := (SELECT o.module_ids FROM looked_at AS o)
  ) AS v
  LEFT JOIN lengths AS l USING (module_id)
),
base_peaks AS (
  SELECT *
  FROM peak_values(
    run := (SELECT c.base FROM the_pair AS c),
    program := NULL,
    module_ids := (SELECT o.module_ids FROM looked_at AS o)
  )
),
candidate_peaks AS (
  SELECT *
  FROM peak_values(
    run := (SELECT c.candidate FROM the_pair AS c),
    program := NULL,
    module_ids := (SELECT o.module_ids FROM looked_at AS o)
  )
),
base_sources AS (
  SELECT *
  FROM value_sources(
    run := (SELECT c.base FROM the_pair AS c),
    program := NULL,
    module_ids := (SELECT o.module_ids FROM looked_at AS o)
  )
),
candidate_sources AS (
  SELECT *
  FROM value_sources(
    run := (SELECT c.candidate FROM the_pair AS c),
    program := NULL,
    module_ids := (SELECT o.module_ids FROM looked_at AS o)
  )
),
matches AS (
  SELECT
    m.program AS program_name, m.module_number, m.rank, m.pair,
    m.base_module_id, m.candidate_module_id, m.base_locations_id,
    m.candidate_locations_id,
    m.base_value_id, m.candidate_value_id, m.base_instruction, m.instruction,
    m.opcode AS operation, m.op_name AS path, m.match_method,
    m.match_confidence
  FROM matched_values(
    base := coalesce($base, (SELECT c.base FROM the_pair AS c)),
    candidate := coalesce(
      $candidate, (SELECT c.candidate FROM the_pair AS c)
    ),
    program := $program,
    module_ids := (SELECT o.module_ids FROM looked_at AS o)
  ) AS m
),
valued AS (
  SELECT
    m.program_name, m.module_number, m.rank, m.pair, m.base_module_id,
    m.candidate_module_id, m.operation, m.match_method, m.match_confidence,
    coalesce(c.color, b.color) AS space_color,
    b.color AS base_color, c.color AS candidate_color,
    b.value_id AS base_value_id, c.value_id AS candidate_value_id,
    m.base_instruction, m.instruction,
    coalesce(c.shape_index, b.shape_index) AS shape_index,
    b.shape AS base_shape, c.shape, b.size_bytes AS base_bytes,
    c.size_bytes AS candidate_bytes, c.life - b.life AS life_delta,
    coalesce(x.owned_bytes, 0) AS base_peak_bytes,
    coalesce(y.owned_bytes, 0) AS candidate_peak_bytes,
    x.value_id IS NOT NULL AS in_base_peak,
    y.value_id IS NOT NULL AS in_candidate_peak,
    coalesce(t.op_name, s.op_name, m.path) AS op_name,
    coalesce(t.source_file, s.source_file) AS source_file,
    coalesce(t.source_line, s.source_line) AS source_line
  FROM matches AS m
  LEFT JOIN base_places AS b
    ON b.module_id = m.base_module_id
    AND b.value_id = m.base_value_id
  LEFT JOIN candidate_places AS c
    ON c.module_id = m.candidate_module_id
    AND c.value_id = m.candidate_value_id
  LEFT JOIN base_peaks AS x
    ON x.module_id = b.module_id
    AND x.allocation_id = b.allocation_id
    AND x.value_id = b.value_id
  LEFT JOIN candidate_peaks AS y
    ON y.module_id = c.module_id
    AND y.allocation_id = c.allocation_id
    AND y.value_id = c.value_id
  LEFT JOIN base_sources AS s
    ON s.module_id = m.base_module_id
    AND s.locations_id = m.base_locations_id
    AND s.value_id = m.base_value_id
  LEFT JOIN candidate_sources AS t
    ON t.module_id = m.candidate_module_id
    AND t.locations_id = m.candidate_locations_id
    AND t.value_id = m.candidate_value_id
),
modules_compared AS (
  SELECT DISTINCT
    program_name, module_number, rank, pair, base_module_id,
    candidate_module_id
  FROM matches
),
uncovered AS (
  SELECT
    m.program_name, m.module_number, m.rank, m.pair, x.color AS space_color,
    x.owned_bytes AS base_bytes,
    0 AS candidate_bytes
  FROM modules_compared AS m
  JOIN base_peaks AS x ON x.module_id = m.base_module_id
  WHERE x.value_id IS NULL
  UNION ALL
  SELECT
    m.program_name, m.module_number, m.rank, m.pair, y.color, 0, y.owned_bytes
  FROM modules_compared AS m
  JOIN candidate_peaks AS y ON y.module_id = m.candidate_module_id
  WHERE y.value_id IS NULL
),
judged AS (
  SELECT
    v.program_name, v.module_number, v.rank, v.pair,
    CASE
      WHEN v.base_value_id IS NULL THEN 'new'
      WHEN v.candidate_value_id IS NULL THEN 'gone'
      WHEN v.base_color <> v.candidate_color THEN 'moved'
      WHEN regexp_extract(v.base_shape, '\[[^\]]*\]')
        <> regexp_extract(v.shape, '\[[^\]]*\]') THEN 'resized'
      WHEN regexp_extract(v.base_shape, '^[a-z0-9]+')
        <> regexp_extract(v.shape, '^[a-z0-9]+') THEN 'retyped'
      WHEN v.base_bytes <> v.candidate_bytes THEN 'repadded'
      WHEN v.in_candidate_peak AND NOT v.in_base_peak THEN 'at_peak_now'
      WHEN v.in_base_peak AND NOT v.in_candidate_peak THEN 'not_at_peak_now'
      WHEN v.base_peak_bytes <> v.candidate_peak_bytes THEN 'shared'
      WHEN abs(v.life_delta) > 0.001 THEN 'lifetime'
      ELSE 'same'
    END AS status,
    v.space_color, v.base_instruction, v.instruction, v.shape_index,
    v.operation AS opcode,
    v.base_shape, v.shape, v.base_bytes, v.candidate_bytes, v.base_peak_bytes,
    v.candidate_peak_bytes, v.life_delta, v.match_method, v.match_confidence,
    v.op_name, v.source_file, v.source_line,
    v.base_value_id, v.candidate_value_id
  FROM valued AS v
  UNION ALL
  SELECT
    u.program_name, u.module_number, u.rank, u.pair, 'uncovered',
    u.space_color, NULL, NULL, NULL, NULL, NULL, NULL, sum(u.base_bytes),
    sum(u.candidate_bytes), sum(u.base_bytes), sum(u.candidate_bytes), NULL,
    'none', 0.0, NULL, NULL, NULL, NULL, NULL
  FROM uncovered AS u
  GROUP BY
    u.program_name, u.module_number, u.rank, u.pair, u.space_color
)
SELECT
  j.program_name AS program, j.module_number, j.rank, j.status,
  j.space_color AS color,
  j.base_instruction, j.instruction, j.shape_index, j.opcode, j.base_shape,
  j.shape,
  CAST(j.base_bytes AS BIGINT) AS base_bytes,
  CAST(j.candidate_bytes AS BIGINT) AS candidate_bytes,
  CAST(coalesce(j.candidate_bytes, 0) - coalesce(j.base_bytes, 0) AS BIGINT)
    AS delta_bytes,
  CAST(j.base_peak_bytes AS BIGINT) AS base_peak_bytes,
  CAST(j.candidate_peak_bytes AS BIGINT) AS candidate_peak_bytes,
  CAST(j.candidate_peak_bytes - j.base_peak_bytes AS BIGINT)
    AS delta_peak_bytes,
  j.life_delta AS delta_life_ratio, j.match_method,
  CAST(j.match_confidence AS DOUBLE) AS match_confidence, j.op_name,
  j.source_file, j.source_line
FROM judged AS j
WHERE (NOT $only_peak OR j.base_peak_bytes > 0 OR j.candidate_peak_bytes > 0)
  AND (
    NOT $only_changes
    OR j.status NOT IN ('same', 'uncovered')
    OR (j.status = 'uncovered' AND j.candidate_peak_bytes <> j.base_peak_bytes)
  )
ORDER BY
  abs(j.candidate_peak_bytes - j.base_peak_bytes) DESC,
  abs(coalesce(j.candidate_bytes, 0) - coalesce(j.base_bytes, 0)) DESC,
  j.program_name, j.rank, j.pair, j.candidate_value_id, j.base_value_id,
  j.space_color
LIMIT $top
