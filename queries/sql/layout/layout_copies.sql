-- title: Copies for a layout
-- question: How many bytes move only to change a layout, tiling or memory
--   space?
-- definition: copy, transpose, bitcast-convert and reshape instructions
--   outside of fusions whose array operand has the same element type and, for
--   copies, the same dimensions as the result; reason says what differs. A
--   transpose is layout where it permutes dimensions. Bytes are logical sizes.
--   is_at_peak: a value it defines is live at the peak of its colour.
-- grain: module occurrence, instruction
-- needs: final_modules, instructions, operands, computations, peak_values,
--   instruction_sources
-- param run
-- param program
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column instruction
-- column opcode
-- column reason VARCHAR name neutral: space, tiling, order, dimensions or
--   none.
-- column operand_shape VARCHAR text neutral: Shape of the operand.
-- column shape VARCHAR text neutral: Shape of the result.
-- column read_bytes BIGINT bytes lower_is_better: Logical size of the operand.
-- column written_bytes BIGINT bytes lower_is_better: Logical size of the
--   result.
-- column is_at_peak BOOLEAN flag neutral: Whether it is live at the peak.
-- column op_name
-- column source_file
-- column source_line
WITH moved AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.module_id, m.locations_id, i.instruction_id, i.name AS instruction,
    i.opcode, i.op_name, o.shape AS operand_shape, i.shape,
    o.logical_bytes AS read_bytes, i.logical_bytes AS written_bytes,
    o.color AS from_color, i.color AS to_color,
    regexp_extract(o.shape, '^[a-z0-9]+\[[^\]]*\]') AS operand_dimensions,
    regexp_extract(i.shape, '^[a-z0-9]+\[[^\]]*\]') AS result_dimensions,
    regexp_extract(o.shape, '\]\{([0-9,]*)', 1) AS operand_order,
    regexp_extract(i.shape, '\]\{([0-9,]*)', 1) AS result_order,
    regexp_extract(o.shape, 'T\([^S}]*') AS operand_tile,
    regexp_extract(i.shape, 'T\([^S}]*') AS result_tile
  FROM final_modules(run := $run, program := $program) AS m
  JOIN instructions AS i USING (module_id)
  JOIN operands AS p
    ON p.module_id = i.module_id
    AND p.instruction_id = i.instruction_id
    AND p.operand_index = 0
  JOIN instructions AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
    AND o.element_type = i.element_type
  LEFT JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  WHERE i.opcode IN ('copy', 'transpose', 'bitcast-convert', 'reshape')
    AND i.element_type <> 'tuple'
    AND coalesce(c.kind, 'entry') NOT IN ('fusion', 'reducer')
),
peaks AS (
  SELECT DISTINCT module_id, instruction_id
  FROM peak_values(run := $run, program := $program)
)
SELECT
  v.run_name AS run, v.program_name AS program, v.module_number, v.rank,
  v.instruction, v.opcode,
  CASE
    WHEN v.from_color <> v.to_color THEN 'space'
    WHEN v.operand_dimensions <> v.result_dimensions THEN 'dimensions'
    WHEN v.operand_tile <> v.result_tile THEN 'tiling'
    WHEN v.operand_order <> v.result_order THEN 'order'
    ELSE 'none'
  END AS reason,
  v.operand_shape, v.shape, v.read_bytes, v.written_bytes,
  k.instruction_id IS NOT NULL AS is_at_peak, v.op_name, s.source_file,
  s.source_line
FROM moved AS v
LEFT JOIN peaks AS k USING (module_id, instruction_id)
LEFT JOIN instruction_sources(run := $run, program := $program) AS s
  ON s.module_id = v.module_id
  AND s.locations_id = v.locations_id
  AND s.instruction_id = v.instruction_id
ORDER BY
  v.written_bytes DESC, v.program_name, v.module_number, v.rank,
  v.instruction_id
LIMIT $top
