-- title: Operations that only move data
-- question: What does each copy, transpose or reshape read and write?
-- definition: copy, copy-start, transpose, bitcast-convert and reshape
--   instructions in the last snapshot of every module. The result of a
--   copy-start is the first array of its tuple, which its done returns. Memory
--   spaces are those of the layouts (S(n), or 0 if none is printed).
-- grain: module content, instruction
-- param run
-- param program
-- column module_id
-- column instruction_id
-- column instruction
-- column opcode
-- column computation_id INTEGER id neutral: Its computation.
-- column operand_id INTEGER id neutral: Instruction that it reads.
-- column operand_opcode VARCHAR name neutral: Operation of that instruction.
-- column operand_shape VARCHAR text neutral: Shape of the operand.
-- column shape VARCHAR text neutral: Shape of the result.
-- column logical_bytes BIGINT bytes neutral: Logical size of the operand.
-- column from_color INTEGER id neutral: Memory space it is read from.
-- column to_color INTEGER id neutral: Memory space it is written to.
-- column op_name
WITH there AS MATERIALIZED (
  -- Fixed, lest moves and operands meet the instructions of all runs.
  SELECT
    i.module_id, i.instruction_id, i.name, i.computation_id, i.form_id
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
),
moves AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name, i.computation_id, f.opcode,
    f.op_name, p.operand_id,
    CASE f.opcode
      WHEN 'copy-start'
        THEN regexp_extract(f.shape, '[a-z]\w*\[[^\]]*\](?:\{[^}]*\})?')
      ELSE f.shape
    END AS shape
  FROM there AS i
  JOIN store.instruction_forms AS f USING (form_id)
  JOIN operands AS p USING (module_id, instruction_id)
  WHERE f.opcode IN (
      'copy', 'copy-start', 'transpose', 'bitcast-convert', 'reshape'
    )
    AND p.operand_index = 0
)
SELECT
  m.module_id, m.instruction_id, m.name AS instruction, m.opcode,
  m.computation_id, m.operand_id, f.opcode AS operand_opcode,
  f.shape AS operand_shape, m.shape, f.logical_bytes, f.color AS from_color,
  coalesce(TRY_CAST(
    regexp_extract(m.shape, 'S\(([0-9]+)\)', 1) AS INTEGER
  ), 0) AS to_color,
  m.op_name
FROM moves AS m
JOIN there AS o
  ON o.module_id = m.module_id
  AND o.instruction_id = m.operand_id
JOIN store.instruction_forms AS f ON f.form_id = o.form_id
