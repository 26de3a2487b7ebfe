-- title: Parameters that the compiler copies
-- question: Which instructions only copy an argument to another place, layout
--   or element type?
-- definition: Instructions of the entry computation that only copy a
--   parameter: copies, slices, conversions, bitcasts, their starts and dones,
--   ConcatBitcasts (TPU compilers fetch a weight in slices and join them), and
--   fusions of one operand. They have no op_name or the parameter's own, and
--   read a parameter with an op_name, directly or through up to three such
--   instructions. Operations of the program itself have an op_name of their
--   own and are left out, and so are programs without op_names. An
--   asynchronous slice counts together with the slice that it calls.
-- grain: module content, instruction
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column parameter_number INTEGER id neutral: Entry parameter that it copies.
WITH RECURSIVE described AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.opcode,
    nullif(i.op_name, '') AS op_name, i.parameter_number,
    i.opcode IN (
      'async-done', 'bitcast', 'convert', 'copy', 'copy-done', 'copy-start',
      'fusion', 'slice', 'transpose'
    )
    OR coalesce(i.custom_call_target = 'ConcatBitcast', FALSE) AS is_moving
  FROM selected_instructions() AS i
  WHERE is_moving
    OR i.opcode IN ('parameter', 'async-start')
),
sliced AS MATERIALIZED (
  SELECT
    d.module_id, d.instruction_id, r.instruction_id AS slice_id
  FROM described AS d
  JOIN called_computations AS c USING (module_id, instruction_id)
  JOIN computations AS n
    ON n.module_id = c.module_id
    AND n.computation_id = c.computation_id
  JOIN described AS r
    ON r.module_id = n.module_id
    AND r.instruction_id = n.root_instruction_id
  WHERE d.opcode = 'async-start'
    AND r.opcode = 'slice'
),
entries AS MATERIALIZED (
  SELECT
    d.module_id, d.instruction_id, d.opcode, d.op_name, d.parameter_number,
    d.is_moving OR s.slice_id IS NOT NULL AS is_moving
  FROM described AS d
  JOIN (
    SELECT DISTINCT module_id, entry_computation_id AS computation_id
    FROM store.snapshots
  ) AS m USING (module_id, computation_id)
  LEFT JOIN sliced AS s USING (module_id, instruction_id)
),
-- Fixed before it is joined by number: else those of all modules are.
read AS MATERIALIZED (
  SELECT
    o.module_id, o.instruction_id, min(o.operand_id) AS operand_id,
    count(*) AS operand_count
  FROM (SELECT DISTINCT module_id FROM entries) AS m
  JOIN operands AS o USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, o.module_id)
  GROUP BY o.module_id, o.instruction_id
),
moving AS MATERIALIZED (
  SELECT e.module_id, e.instruction_id, e.op_name, r.operand_id
  FROM entries AS e
  JOIN read AS r USING (module_id, instruction_id)
  WHERE e.is_moving
    AND (e.opcode <> 'fusion' OR r.operand_count = 1)
),
moved AS (
  SELECT
    e.module_id, e.instruction_id, e.parameter_number, e.op_name, 0 AS depth
  FROM entries AS e
  WHERE e.opcode = 'parameter'
    AND e.op_name IS NOT NULL
  UNION ALL
  SELECT
    d.module_id, m.instruction_id, d.parameter_number, d.op_name, d.depth + 1
  FROM moved AS d
  JOIN moving AS m
    ON m.module_id = d.module_id
    AND m.operand_id = d.instruction_id
  WHERE d.depth < 4
    AND (m.op_name IS NULL OR m.op_name = d.op_name)
)
SELECT module_id, instruction_id, parameter_number
FROM moved
WHERE depth > 0
UNION ALL
SELECT m.module_id, s.slice_id, m.parameter_number
FROM moved AS m
JOIN sliced AS s USING (module_id, instruction_id)
