-- step: What reads of the backward pass: of its operations and fusions, and of
--   what reads those without a mark of its own. What a call gives is what its
--   root gives.
-- grain: instruction
WITH RECURSIVE backward_fusions AS MATERIALIZED (
  SELECT DISTINCT c.module_id, c.instruction_id
  FROM callees AS c
  JOIN nodes AS n USING (module_id, computation_id)
  WHERE c.opcode = 'fusion'
    AND n.is_marked
    AND n.phase = 'backward'
),
working AS MATERIALIZED (
  SELECT n.module_id, n.instruction_id
  FROM nodes AS n
  WHERE n.is_marked
    AND n.is_scheduled
    AND n.phase = 'backward'
    AND n.opcode <> 'fusion'
  UNION
  FROM backward_fusions
),
-- What reads of it without a mark of its own; what a call gives is its root's.
links AS MATERIALIZED (
  SELECT e.module_id, e.instruction_id, e.operand_id
  FROM edges AS e
  JOIN nodes AS n USING (module_id, instruction_id)
  WHERE n.is_scheduled
    AND NOT n.is_marked
  UNION
  SELECT c.module_id, c.instruction_id, b.root_instruction_id
  FROM callees AS c
  JOIN computations AS b USING (module_id, computation_id)
  WHERE c.opcode <> 'fusion'
    AND b.root_instruction_id IS NOT NULL
),
after_backward AS (
  FROM working
  UNION
  SELECT l.module_id, l.instruction_id
  FROM after_backward AS a
  JOIN links AS l
    ON l.module_id = a.module_id
    AND l.operand_id = a.instruction_id
)
SELECT e.module_id, e.instruction_id
FROM edges AS e
JOIN after_backward AS a
  ON a.module_id = e.module_id
  AND a.instruction_id = e.operand_id
UNION
SELECT r.module_id, r.reader_id
FROM readers AS r
JOIN after_backward AS a
  ON a.module_id = r.module_id
  AND a.instruction_id = r.reader_id
WHERE r.opcode = 'fusion'
