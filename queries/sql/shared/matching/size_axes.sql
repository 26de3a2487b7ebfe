-- title: Sizes with which programs were compiled
-- question: With which sizes was each program compiled, and which dimensions
--   change together?
-- definition: Modules with a buffer assignment of the selected series (all
--   runs without one); for each program_key those of the latest run, the
--   largest per memory space and source. Modules have one subject if program,
--   platform, device, compiler_version and parameters agree except for
--   dimensions, and so do their sources before optimisations, if dumped: their
--   number of instructions and, if all are stored, their opcodes
--   (opcode_mixes).
--   Dimensions that differ within a subject form one axis if they change in
--   proportion: (size - least) / (greatest - least) is the same in every
--   module. The size of an axis is that of its first dimension.
-- grain: subject, memory space, module content, axis
-- param program
-- param series
-- param module_ids
-- column program
-- column platform
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column compiler_version VARCHAR name neutral: XLA release.
-- column subject BIGINT id neutral: Number of the subject.
-- column color
-- column space_name
-- column run_id
-- column module_number
-- column module_id
-- column axis VARCHAR name neutral: Its dimensions, such as 4[0], 5[0]: number
--   of the array parameter, then of the dimension, both from 0.
-- column axis_size BIGINT count neutral: Size of the first of these
--   dimensions.
WITH latest AS (
  SELECT
    m.program AS program_name, m.program_key, m.platform, r.device,
    r.compiler_version, m.color AS space_color, max(m.run_id) AS run_id
  FROM module_memory AS m
  JOIN runs AS r USING (run_id)
  WHERE ($program IS NULL OR m.program = $program)
    AND ($series IS NULL OR r.series = $series)
    AND ($module_ids IS NULL OR list_contains($module_ids, m.module_id))
  GROUP BY
    m.program, m.program_key, m.platform, r.device, r.compiler_version, m.color
),
several AS MATERIALIZED (
  SELECT *
  FROM latest
  QUALIFY count(*) OVER (
    PARTITION BY
      program_name, platform, device, compiler_version, space_color
  ) > 1
),
held AS MATERIALIZED (
  SELECT
    s.program_name, s.program_key, s.platform, s.device, s.compiler_version,
    s.space_color, m.space_name, s.run_id, m.module_id, m.module_number,
    m.rank, o.folder, m.reserved_bytes
  FROM several AS s
  JOIN module_memory AS m
    ON m.run_id = s.run_id
    AND m.program = s.program_name
    AND m.program_key IS NOT DISTINCT FROM s.program_key
    AND m.platform IS NOT DISTINCT FROM s.platform
    AND m.color = s.space_color
  JOIN modules AS o
    ON o.run_id = m.run_id
    AND o.path = m.path
    AND o.part = m.part
  WHERE $module_ids IS NULL
    OR list_contains($module_ids, m.module_id)
),
sources AS MATERIALIZED (
  SELECT
    h.run_id, h.module_id, max(b.module_id) AS source_id,
    max(b.instruction_count) AS source_count
  FROM held AS h
  JOIN compiled_sources() AS b
    ON b.run_id = h.run_id
    AND b.program = h.program_name
    AND b.rank IS NOT DISTINCT FROM h.rank
    AND b.folder = h.folder
    AND b.module_number = h.module_number
  GROUP BY h.run_id, h.module_id
),
mixes AS (
  SELECT x.*
  FROM opcode_mixes(
    module_ids := (SELECT list(b.source_id) FROM sources AS b)
  ) AS x
),
known AS (
  SELECT
    h.*, b.source_count,
    -- Where one lacks its instructions, their number has to do for all.
    CASE WHEN count(x.opcode_mix) OVER alike = count(*) OVER alike
      THEN x.opcode_mix END AS opcode_mix
  FROM held AS h
  LEFT JOIN sources AS b
    ON b.run_id = h.run_id
    AND b.module_id = h.module_id
  LEFT JOIN mixes AS x ON x.module_id = b.source_id
  WINDOW alike AS (
    PARTITION BY
      h.program_name, h.platform, h.device, h.compiler_version, b.source_count
  )
),
distinct_ones AS (
  -- Of one shape and the same operations, the largest.
  SELECT k.*
  FROM known AS k
  QUALIFY row_number() OVER (
    PARTITION BY
      k.program_name, k.program_key, k.platform, k.device, k.compiler_version,
      k.space_color, k.source_count, k.opcode_mix
    ORDER BY k.reserved_bytes DESC, k.module_id DESC, k.module_number
  ) = 1
),
layouts AS (
  SELECT DISTINCT
    s.module_id, m.num_partitions,
    regexp_extract_all(
      split_part(m.entry_layout, '->', 1), '[a-z][a-z0-9]*\[[^\]]*\]'
    ) AS shapes
  FROM (SELECT DISTINCT module_id FROM distinct_ones) AS s
  JOIN store.snapshots AS m USING (module_id)
),
arguments AS (
  SELECT
    module_id, num_partitions, unnest(shapes) AS argument_shape,
    generate_subscripts(shapes, 1) - 1 AS argument
  FROM layouts
),
dimensions AS (
  SELECT
    module_id, num_partitions, argument,
    split_part(argument_shape, '[', 1) AS element_type,
    string_split(regexp_extract(argument_shape, '\[(.*)\]', 1), ',') AS sizes
  FROM arguments
),
signatures AS (
  SELECT
    module_id,
    hash(num_partitions, string_agg(
      element_type || len(sizes), ',' ORDER BY argument
    )) AS signature
  FROM dimensions
  GROUP BY module_id, num_partitions
),
subjects AS (
  SELECT
    s.*,
    dense_rank() OVER (
      ORDER BY
        s.program_name, s.platform, s.device, s.compiler_version, g.signature,
        s.source_count, s.opcode_mix
    ) AS subject
  FROM distinct_ones AS s
  JOIN signatures AS g USING (module_id)
),
sized AS (
  SELECT
    module_id, argument, generate_subscripts(sizes, 1) - 1 AS dimension,
    try_cast(regexp_extract(unnest(sizes), '[0-9]+') AS BIGINT)
      AS dimension_size
  FROM dimensions
),
varying AS (
  SELECT
    m.subject, m.module_id, s.argument, s.dimension, s.dimension_size,
    min(s.dimension_size) OVER same_dimension AS least,
    max(s.dimension_size) OVER same_dimension AS greatest_size
  FROM (SELECT DISTINCT subject, module_id FROM subjects) AS m
  JOIN sized AS s USING (module_id)
  WHERE s.dimension_size IS NOT NULL
  WINDOW same_dimension AS (PARTITION BY m.subject, s.argument, s.dimension)
  QUALIFY least < greatest_size
),
courses AS (
  SELECT
    subject, argument, dimension,
    hash(string_agg(
      CAST(round(
        (dimension_size - least) / (greatest_size - least), 9
      ) AS VARCHAR), ' ' ORDER BY module_id
    )) AS course
  FROM varying
  GROUP BY subject, argument, dimension
),
axes AS (
  SELECT
    subject, course, min((argument, dimension)) AS first_place,
    string_agg(
      argument || '[' || dimension || ']', ', ' ORDER BY argument, dimension
    ) AS axis
  FROM courses
  GROUP BY subject, course
)
SELECT
  s.program_name AS program, s.platform, s.device, s.compiler_version,
  s.subject, s.space_color AS color, s.space_name, s.run_id,
  s.module_number, s.module_id, a.axis, v.dimension_size AS axis_size
FROM subjects AS s
JOIN axes AS a USING (subject)
JOIN varying AS v
  ON v.subject = s.subject
  AND v.module_id = s.module_id
  AND (v.argument, v.dimension) = a.first_place
