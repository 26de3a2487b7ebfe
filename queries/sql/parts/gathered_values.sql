-- title: Weights gathered for use
-- question: Which values hold a parameter that an all-gather put together?
-- definition: An all-gather (or its start) counts where its operand comes from
--   a parameter, of any computation, by operations that only pass data on:
--   bitcast, copy, convert, reshape, transpose, slice, dynamic-slice,
--   get-tuple-element, optimization barriers, and starts and dones of these
--   and of all-gathers. Its result, and what the same operations make of it,
--   is gathered. Data that passes a fusion is not followed.
-- grain: module content, value
-- needs: final_modules, instructions, operands, values
-- param run
-- param program
-- column module_id
-- column value_id
-- column gather_instruction VARCHAR name neutral: The all-gather.
-- column weight VARCHAR name neutral: op_name of the parameter, else its
--   instruction.
WITH RECURSIVE nodes AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name, i.opcode, i.op_name,
    i.opcode IN ('all-gather', 'all-gather-start') AS is_gather,
    i.opcode IN (
      'bitcast', 'copy', 'convert', 'reshape', 'transpose', 'slice',
      'dynamic-slice',
      'get-tuple-element', 'opt-barrier', 'copy-start', 'copy-done',
      'async-start',
      'async-done', 'async-update', 'all-gather-done'
    ) AS is_passing
  FROM (
    SELECT DISTINCT module_id
      FROM final_modules(run := $run, program := $program)
  ) AS m
  JOIN instructions AS i USING (module_id)
),
edges AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id AS reader_id, p.operand_id
  FROM operands AS p
  JOIN nodes AS n USING (module_id, instruction_id)
  WHERE p.operand_id IS NOT NULL
    AND p.operand_index = 0
    AND (n.is_gather OR n.is_passing)
),
origins AS (
  SELECT
    n.module_id, n.instruction_id AS gather_id, n.name AS gather_instruction,
    e.operand_id AS origin_id, 1 AS depth
  FROM nodes AS n
  JOIN edges AS e
    ON e.module_id = n.module_id
    AND e.reader_id = n.instruction_id
  WHERE n.is_gather
  UNION
  SELECT
    o.module_id, o.gather_id, o.gather_instruction, e.operand_id, o.depth + 1
  FROM origins AS o
  JOIN nodes AS n
    ON n.module_id = o.module_id
    AND n.instruction_id = o.origin_id
  JOIN edges AS e
    ON e.module_id = o.module_id
    AND e.reader_id = o.origin_id
  WHERE n.is_passing
    AND o.depth < 20
),
gathers AS (
  SELECT
    o.module_id, o.gather_id, o.gather_instruction,
    min(coalesce(nullif(n.op_name, ''), n.name)) AS weight
  FROM origins AS o
  JOIN nodes AS n
    ON n.module_id = o.module_id
    AND n.instruction_id = o.origin_id
  WHERE n.opcode = 'parameter'
  GROUP BY o.module_id, o.gather_id, o.gather_instruction
),
followed AS (
  SELECT module_id, gather_id, gather_id AS instruction_id,
    0 AS depth FROM gathers
  UNION
  SELECT f.module_id, f.gather_id, e.reader_id, f.depth + 1
  FROM followed AS f
  JOIN edges AS e
    ON e.module_id = f.module_id
    AND e.operand_id = f.instruction_id
  JOIN nodes AS n
    ON n.module_id = e.module_id
    AND n.instruction_id = e.reader_id
  WHERE n.is_passing
    AND f.depth < 20
),
reached AS MATERIALIZED (
  SELECT
    f.module_id, f.instruction_id,
    min(g.gather_instruction) AS gather_instruction,
    min(g.weight) AS weight
  FROM followed AS f
  JOIN gathers AS g USING (module_id, gather_id)
  GROUP BY f.module_id, f.instruction_id
)
SELECT v.module_id, v.value_id, r.gather_instruction, r.weight
FROM reached AS r
JOIN store."values" AS v USING (module_id, instruction_id)
