-- title: Copies that change the layout
-- question: How many bytes are copied only to change layout, tiling or memory
--   space?
-- definition: copy, copy-start, transpose, bitcast-convert and reshape
--   instructions (data_moves) outside of fusions, whose operand and result are
--   arrays of the same element type but differ in memory space, dimensions,
--   tiling or order of dimensions. A transpose always counts as a change of
--   dimensions. Copies between equal layouts in one memory space are only in
--   copy_census. Bytes are logical sizes. is_at_peak: a value that it defines
--   is live at the peak of its memory space.
-- grain: module occurrence, instruction
-- leading: program, instruction, reason, written_bytes, is_at_peak,
--   operand_shape, shape, read_bytes
-- param run
-- param program
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column instruction
-- column opcode
-- column reason VARCHAR name neutral: First difference of: space, dimensions,
--   tiling, order.
-- column operand_shape VARCHAR text neutral: Shape of the operand.
-- column shape VARCHAR text neutral: Shape of the result.
-- column read_bytes BIGINT bytes lower_is_better: Logical size of the operand.
-- column written_bytes BIGINT bytes lower_is_better: Logical size of the
--   result.
-- column is_at_peak BOOLEAN flag neutral: Whether it is live at the peak; NULL
--   without live ranges.
-- column op_name
-- column source_file
-- column source_line
WITH parsed AS MATERIALIZED (
  -- Fixed, lest moves meet operands by their element types.
  SELECT
    v.*,
    regexp_extract(operand_shape, '^([a-z]\w*)\[', 1) AS operand_type,
    regexp_extract(shape, '^([a-z]\w*)\[', 1) AS result_type,
    regexp_extract(operand_shape, '\[[^\]]*\]') AS operand_dimensions,
    regexp_extract(shape, '\[[^\]]*\]') AS result_dimensions,
    regexp_extract(operand_shape, '\]\{([0-9,]*)', 1) AS operand_order,
    regexp_extract(shape, '\]\{([0-9,]*)', 1) AS result_order,
    regexp_extract(operand_shape, 'T\([^S}]*') AS operand_tile,
    regexp_extract(shape, 'T\([^S}]*') AS result_tile
  FROM data_moves() AS v
  LEFT JOIN computations AS c USING (module_id, computation_id)
  WHERE coalesce(c.kind, 'entry') NOT IN ('fusion', 'reducer')
),
moved AS (
  SELECT
    *,
    CASE
      WHEN from_color <> to_color THEN 'space'
      WHEN opcode = 'transpose' OR operand_dimensions <> result_dimensions
        THEN 'dimensions'
      WHEN operand_tile <> result_tile THEN 'tiling'
      WHEN operand_order <> result_order THEN 'order'
    END AS reason
  FROM parsed
  WHERE operand_type = result_type
    AND result_type <> ''
),
peaks AS (
  SELECT DISTINCT module_id, instruction_id
  FROM peak_values()
),
measured AS (
  SELECT DISTINCT module_id
  FROM memory_profile
  WHERE memory_profile.peak_step IS NOT NULL
)
SELECT
  m.run, m.program, m.module_number, m.rank, v.instruction, v.opcode, v.reason,
  v.operand_shape, v.shape, v.logical_bytes AS read_bytes,
  v.logical_bytes AS written_bytes,
  CASE WHEN n.module_id IS NOT NULL THEN k.instruction_id IS NOT NULL END
    AS is_at_peak,
  v.op_name, s.source_file, s.source_line
FROM final_modules() AS m
JOIN moved AS v USING (module_id)
LEFT JOIN peaks AS k USING (module_id, instruction_id)
LEFT JOIN measured AS n USING (module_id)
LEFT JOIN instruction_sources() AS s
  ON s.module_id = m.module_id
  AND s.locations_id = m.locations_id
  AND s.instruction_id = v.instruction_id
WHERE v.reason IS NOT NULL
ORDER BY
  written_bytes DESC, m.program, m.module_number, m.rank, v.instruction_id
LIMIT $top
