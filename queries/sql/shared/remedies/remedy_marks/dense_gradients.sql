-- step: Temporary arrays that are the gradient of a whole table of which few
--   rows are read, and what is as large: a scatter of the backward pass makes
--   it, no product does, and the optimiser keeps no state of its dimensions.
-- grain: value
WITH tables AS MATERIALIZED (
  SELECT
    a.module_id, a.dimensions, any_value(a.name) AS name,
    list_product(list_transform(
      string_split(a.dimensions, ','), lambda x: TRY_CAST(x AS DOUBLE)
    )) AS elements
  FROM arguments AS a
  WHERE a.dimensions LIKE '%,%'
  GROUP BY a.module_id, a.dimensions
  HAVING count(*) = 1
    AND bool_and(a.is_replaced)
),
made AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.opcode, i.is_backward,
    i.op_name LIKE '%dot_general%' AS is_product,
    regexp_extract(i.shape, '^\w+\[([\d,]*)', 1) AS dimensions
  FROM scheduled_instructions AS i
  SEMI JOIN tables AS t ON t.module_id = i.module_id
),
scattered AS (
  SELECT t.module_id, t.dimensions, t.name
  FROM tables AS t
  JOIN made AS s
    ON s.module_id = t.module_id
    AND s.dimensions = t.dimensions
    AND s.opcode = 'scatter'
    AND s.is_backward
  JOIN operands AS e
    ON e.module_id = s.module_id
    AND e.instruction_id = s.instruction_id
    AND e.operand_index = 2
  JOIN made AS u
    ON u.module_id = e.module_id
    AND u.instruction_id = e.operand_id
  WHERE 2 * list_product(list_transform(
    string_split(u.dimensions, ','), lambda x: TRY_CAST(x AS DOUBLE)
  )) <= t.elements
)
SELECT v.module_id, v.value_id, 'whole gradient of ' || s.name AS subject
FROM arrays AS v
JOIN (SELECT DISTINCT * FROM scattered) AS s
  ON s.module_id = v.module_id
  AND s.dimensions = v.dimensions
ANTI JOIN made AS p
  ON p.module_id = s.module_id
  AND p.dimensions = s.dimensions
  AND p.is_product
WHERE v.kind = 'temp'
