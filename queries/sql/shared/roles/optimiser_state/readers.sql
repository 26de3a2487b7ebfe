-- step: What reads a parameter, however often it is moved before.
-- grain: parameter, reading instruction
WITH RECURSIVE result_instructions AS MATERIALIZED (
  SELECT c.module_id, c.root_instruction_id AS instruction_id
  FROM store.snapshots AS s
  JOIN marked_programs USING (module_id)
  JOIN computations AS c
    ON c.module_id = s.module_id
    AND c.computation_id = s.entry_computation_id
),
moving_instructions AS MATERIALIZED (
  SELECT n.module_id, n.instruction_id
  FROM nodes AS n
  JOIN edges AS e USING (module_id, instruction_id)
  WHERE n.is_scheduled
  GROUP BY n.module_id, n.instruction_id
  HAVING any_value(n.is_moving)
    OR (
      any_value(n.phase) = 'none'
      AND any_value(n.opcode) NOT IN (
        'call', 'conditional', 'fusion', 'while'
      )
      AND count(*) = 1
    )
),
moved_parameters AS (
  SELECT DISTINCT d.module_id, d.parameter_number, n.instruction_id
  FROM arguments AS d
  JOIN store.snapshots AS s USING (module_id)
  JOIN nodes AS n
    ON n.module_id = d.module_id
    AND n.computation_id = s.entry_computation_id
    AND n.parameter_number = d.parameter_number
  UNION
  SELECT r.module_id, r.parameter_number, e.instruction_id
  FROM moved_parameters AS r
  JOIN edges AS e
    ON e.module_id = r.module_id
    AND e.operand_id = r.instruction_id
  JOIN moving_instructions AS v
    ON v.module_id = e.module_id
    AND v.instruction_id = e.instruction_id
  ANTI JOIN result_instructions AS t
    ON t.module_id = e.module_id
    AND t.instruction_id = e.instruction_id
)
SELECT DISTINCT
  r.module_id, r.parameter_number, n.instruction_id AS reader_id, n.opcode,
  n.is_marked, n.phase, e.operand_index
FROM moved_parameters AS r
JOIN edges AS e
  ON e.module_id = r.module_id
  AND e.operand_id = r.instruction_id
JOIN nodes AS n
  ON n.module_id = e.module_id
  AND n.instruction_id = e.instruction_id
ANTI JOIN moving_instructions AS v
  ON v.module_id = e.module_id
  AND v.instruction_id = e.instruction_id
ANTI JOIN result_instructions AS t
  ON t.module_id = e.module_id
  AND t.instruction_id = e.instruction_id
