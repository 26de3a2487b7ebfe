-- step: Parameters of the program, constants, and what only moves them, at
--   once or in two steps.
-- grain: instruction
WITH given_instructions AS MATERIALIZED (
  SELECT n.module_id, n.instruction_id, n.opcode = 'parameter' AS is_parameter
  FROM nodes AS n
  ANTI JOIN edges AS e
    ON e.module_id = n.module_id
    AND e.reader_id = n.instruction_id
),
flows AS MATERIALIZED (
  SELECT
    e.module_id, e.reader_id AS instruction_id, e.operand_id, n.is_moving
  FROM edges AS e
  JOIN nodes AS n
    ON n.module_id = e.module_id
    AND n.instruction_id = e.reader_id
),
moved AS MATERIALIZED (
  SELECT
    f.module_id, f.instruction_id, bool_or(g.is_parameter) AS is_parameter
  FROM flows AS f
  LEFT JOIN given_instructions AS g
    ON g.module_id = f.module_id
    AND g.instruction_id = f.operand_id
  GROUP BY f.module_id, f.instruction_id
  HAVING bool_and(g.instruction_id IS NOT NULL)
    AND (
      bool_and(f.is_moving)
      OR NOT bool_or(g.is_parameter)
    )
),
moved_twice AS MATERIALIZED (
  SELECT f.module_id, f.instruction_id
  FROM flows AS f
  LEFT JOIN (FROM given_instructions UNION ALL FROM moved) AS g
    ON g.module_id = f.module_id
    AND g.instruction_id = f.operand_id
  GROUP BY f.module_id, f.instruction_id
  HAVING bool_and(g.instruction_id IS NOT NULL)
    AND (
      bool_and(f.is_moving)
      OR NOT bool_or(g.is_parameter)
    )
)
SELECT module_id, instruction_id
FROM given_instructions
UNION
FROM moved_twice
