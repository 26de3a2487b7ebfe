-- title: Buffers that changed
-- question: Which buffers are new, gone, resized or moved between two runs,
--   and how many bytes does each add?
-- definition: Rows of buffer_changes for modules matched by matched_modules,
--   as in hlodb report and hlodb diff. Per pair of modules and memory space,
--   delta_bytes of all rows add up to the difference of reserved_bytes. Bytes
--   that values share in place belong to the newest of them. part is the
--   reason, see difference_parts. The source line is that of the candidate's
--   value, or else of the base's.
-- grain: pair of modules, memory space, pair of buffers, part
-- leading: program, part, delta_bytes, buffer, source_file, source_line,
--   buffer_shape
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs with this
--   program on at least one side; NULL for all.
-- param follow
-- param only_changes BOOLEAN = true: Leave out unchanged buffers.
-- param top
-- column program
-- column base_program VARCHAR name neutral: Name of the program in the base,
--   if different.
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column color
-- column place BIGINT id neutral: Position in the module and memory space, the
--   greatest change first.
-- column part VARCHAR name neutral: Part of the difference, see
--   difference_parts; same if nothing changed.
-- column kind VARCHAR name neutral: Kind of allocation of the bytes.
-- column delta_bytes BIGINT bytes lower_is_better: Bytes of the part.
-- column base_instruction VARCHAR name neutral: Instruction in the base, with
--   the index into its result.
-- column instruction VARCHAR name neutral: The same in the candidate.
-- column buffer VARCHAR name neutral: Instruction in the candidate, or else in
--   the base.
-- column opcode
-- column op_path VARCHAR name neutral: Framework path without the names of the
--   jitted functions around it; from the candidate if it has one.
-- column base_shape VARCHAR text neutral: Shape in the base, without layout.
-- column shape VARCHAR text neutral: Shape in the candidate, without layout.
-- column buffer_shape VARCHAR text neutral: Shape in the candidate, or else in
--   the base.
-- column base_bytes BIGINT bytes lower_is_better: Size in memory in the base.
-- column candidate_bytes BIGINT bytes lower_is_better: Size in memory in the
--   candidate.
-- column status VARCHAR name neutral: same, larger, smaller, new or gone; now
--   at the peak or no longer at the peak; moved in or moved out (from or to
--   another kind of allocation or memory space); now shared or no longer
--   shared (in place, with another buffer). NULL for rows that are not
--   buffers.
-- column base_held_bytes BIGINT bytes lower_is_better: Bytes that it owns in
--   the base; NULL if it owns none of this memory space there.
-- column candidate_held_bytes BIGINT bytes lower_is_better: The same in the
--   candidate.
-- column note VARCHAR text neutral: The change in words.
-- column match_method VARCHAR name neutral: How the buffers were matched, see
--   buffer_rungs.
-- column match_confidence DOUBLE score higher_is_better: Confidence of the
--   match: 1 is certain, 0 is none.
-- column attribution VARCHAR name neutral: defined: line of the definition;
--   read: line of the first reader.
-- column op_name VARCHAR name neutral: Framework path of the instruction with
--   that line.
-- column source_file
-- column source_line
WITH pairs AS MATERIALIZED (
  SELECT
    row_number() OVER (
      ORDER BY m.program, m.rank, m.base_module_number,
        m.candidate_module_number, m.base_module_id, m.candidate_module_id,
        m.candidate_place, m.base_place
    ) AS pair,
    m.program AS program_name,
    nullif(m.base_program, m.candidate_program) AS base_program, m.rank,
    coalesce(m.candidate_module_number, m.base_module_number) AS number,
    m.base_module_id, m.candidate_module_id, m.base_locations_id,
    m.candidate_locations_id
  FROM matched_modules(
    base := $base, candidate := $candidate, program := $program,
    follow := $follow
  ) AS m
  -- Where a pair is of one content, nothing differs: a night brings few
  -- others.
  WHERE NOT $only_changes
    OR m.base_module_id IS DISTINCT FROM m.candidate_module_id
),
changes AS MATERIALIZED (
  SELECT
    p.program_name, p.base_program, p.rank, p.number, b.*,
    CASE
      WHEN b.candidate_value_id IS NOT NULL THEN p.candidate_module_id
      ELSE p.base_module_id
    END AS module_id,
    CASE
      WHEN b.candidate_value_id IS NOT NULL THEN p.candidate_locations_id
      ELSE p.base_locations_id
    END AS locations_id,
    coalesce(b.candidate_value_id, b.base_value_id) AS value_id
  FROM buffer_changes(
    base_ids := (
      SELECT list(o.base_module_id ORDER BY o.pair) FROM pairs AS o
    ),
    candidate_ids := (
      SELECT list(o.candidate_module_id ORDER BY o.pair) FROM pairs AS o
    )
  ) AS b
  JOIN pairs AS p USING (pair)
  WHERE NOT $only_changes
    OR b.part <> 'same'
),
sources AS (
  SELECT
    s.module_id, s.locations_id, s.value_id, s.attribution, s.op_name,
    s.source_file, s.source_line
  FROM value_sources(
    run := NULL, program := NULL, every_run := TRUE,
    module_ids := (
      SELECT coalesce(list(DISTINCT c.module_id), []) FROM changes AS c
    ),
    locations_ids := (
      SELECT coalesce(list(DISTINCT c.locations_id), []) FROM changes AS c
    )
  ) AS s
)
SELECT
  c.program_name AS program, c.base_program, c.number AS module_number, c.rank,
  c.color, c.place, c.part, c.kind, c.delta_bytes,
  coalesce(
    c.base_instruction || coalesce(c.base_shape_index, ''),
    'parameter ' || c.base_parameter
  ) AS base_instruction,
  coalesce(
    c.candidate_instruction || coalesce(c.candidate_shape_index, ''),
    'parameter ' || c.candidate_parameter
  ) AS instruction,
  coalesce(
    c.candidate_instruction || coalesce(c.candidate_shape_index, ''),
    'parameter ' || c.candidate_parameter,
    c.base_instruction || coalesce(c.base_shape_index, ''),
    'parameter ' || c.base_parameter
  ) AS buffer,
  coalesce(c.candidate_opcode, c.base_opcode) AS opcode,
  coalesce(c.candidate_op_path, c.base_op_path) AS op_path, c.base_shape,
  c.candidate_shape AS shape,
  coalesce(c.candidate_shape, c.base_shape) AS buffer_shape, c.base_bytes,
  c.candidate_bytes, c.status,
  c.base_held_bytes, c.candidate_held_bytes, c.note, c.method AS match_method,
  c.confidence AS match_confidence,
  CASE WHEN s.source_file IS NOT NULL THEN s.attribution END AS attribution,
  s.op_name, s.source_file,
  CASE WHEN s.source_file IS NOT NULL THEN s.source_line END AS source_line
FROM changes AS c
LEFT JOIN sources AS s USING (module_id, locations_id, value_id)
ORDER BY
  abs(c.delta_bytes) DESC, c.program_name, c.rank, c.pair, c.color, c.place
LIMIT $top
