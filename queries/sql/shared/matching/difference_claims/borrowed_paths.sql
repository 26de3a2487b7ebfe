-- step: A copy or fusion without a path has those of its operands, else of its
--   readers. modules_there are unnested, lest the instructions of all modules
--   meet (final_contents).
-- grain: module, instruction, path
WITH modules_there AS MATERIALIZED (
  SELECT unnest(list_distinct(list(module_id))) AS module_id
  FROM changed_sides
  WHERE op_path IS NULL
),
instructions_there AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.name, i.form_id
  FROM modules_there
  JOIN store.instructions AS i USING (module_id)
),
unnamed AS MATERIALIZED (
  SELECT DISTINCT i.module_id, i.instruction_id, i.name
  FROM (
    SELECT DISTINCT module_id, name FROM changed_sides WHERE op_path IS NULL
  ) AS s
  JOIN instructions_there AS i USING (module_id, name)
),
links AS MATERIALIZED (
  SELECT e.module_id, e.instruction_id, e.operand_id
  FROM modules_there
  JOIN operands AS e USING (module_id)
),
neighbours AS MATERIALIZED (
  SELECT u.module_id, u.name, TRUE AS is_operand, e.operand_id AS other_id
  FROM unnamed AS u
  JOIN links AS e USING (module_id, instruction_id)
  WHERE e.operand_id IS NOT NULL
  UNION
  SELECT u.module_id, u.name, FALSE, e.instruction_id
  FROM unnamed AS u
  JOIN links AS e
    ON e.module_id = u.module_id
    AND e.operand_id = u.instruction_id
)
SELECT n.module_id, n.name, f.op_name AS op_path
FROM neighbours AS n
JOIN instructions_there AS i
  ON i.module_id = n.module_id
  AND i.instruction_id = n.other_id
JOIN store.instruction_forms AS f USING (form_id)
WHERE f.op_name <> ''
  AND f.opcode <> 'parameter'
QUALIFY dense_rank() OVER (
  PARTITION BY n.module_id, n.name ORDER BY n.is_operand DESC
) = 1
