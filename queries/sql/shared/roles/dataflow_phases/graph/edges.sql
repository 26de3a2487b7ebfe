-- step: What flows where, through calls, too.
-- grain: reading instruction, operand
WITH roots AS MATERIALIZED (
  SELECT c.module_id, c.computation_id, c.root_instruction_id
  FROM half_marked
  JOIN computations AS c USING (module_id)
),
called AS MATERIALIZED (
  SELECT
    n.module_id, n.instruction_id, c.computation_id, d.root_instruction_id
  FROM nodes AS n
  JOIN callees AS c USING (module_id, instruction_id)
  JOIN roots AS d
    ON d.module_id = c.module_id
    AND d.computation_id = c.computation_id
  WHERE n.opcode IN ('call', 'while', 'conditional')
)
SELECT n.module_id, n.instruction_id AS reader_id, p.operand_id
FROM nodes AS n
JOIN operand_edges AS p USING (module_id, instruction_id)
UNION
SELECT c.module_id, c.instruction_id, c.root_instruction_id
FROM called AS c
WHERE c.root_instruction_id IS NOT NULL
UNION
SELECT c.module_id, n.instruction_id, p.operand_id
FROM called AS c
JOIN nodes AS n
  ON n.module_id = c.module_id
  AND n.computation_id = c.computation_id
JOIN operand_edges AS p
  ON p.module_id = c.module_id
  AND p.instruction_id = c.instruction_id
WHERE n.opcode = 'parameter'
