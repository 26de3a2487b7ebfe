-- step: Products that are only scaled, summed and multiplied with another
--   array, (A B) C, in programs without a backward pass: A (B C) needs none of
--   them. Of no array of these sides is anything else computed.
-- grain: value
WITH sided AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.opcode, i.op_name, i.logical_bytes,
    -- XLA for TPUs turns products into convolutions.
    i.opcode = 'dot'
    OR i.opcode = 'convolution' AND i.op_name LIKE '%dot_general%'
      AS is_product,
    list_sort(list_filter(
      string_split(regexp_extract(i.shape, '^\w+\[([0-9,]*)\]', 1), ','),
      lambda x: x NOT IN ('', '1')
    )) AS sides
  FROM scheduled_instructions AS i
  JOIN program_traits AS t ON t.module_id = i.module_id
  WHERE NOT t.has_backward
),
made AS (
  SELECT
    p.module_id, p.sides, max(p.logical_bytes) AS made_bytes,
    max(o.logical_bytes) AS read_bytes
  FROM sided AS p
  JOIN operands AS e USING (module_id, instruction_id)
  JOIN sided AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
  WHERE p.is_product
    AND len(p.sides) >= 2
  GROUP BY p.module_id, p.sides
  HAVING made_bytes >= 8 * read_bytes
),
multiplied AS (
  SELECT DISTINCT o.module_id, o.sides
  FROM sided AS p
  JOIN operands AS e USING (module_id, instruction_id)
  JOIN sided AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
  WHERE p.is_product
    AND o.sides <> p.sides
),
summing AS (
  SELECT
    c.module_id, c.instruction_id,
    bool_or(r.opcode IN ('and', 'compare', 'maximum', 'minimum', 'or'))
      AS is_other
  FROM called_computations AS c
  JOIN scheduled_instructions AS r USING (module_id, computation_id)
  GROUP BY c.module_id, c.instruction_id
),
-- What has such sides, and what reads it.
touching AS (
  SELECT m.module_id, m.sides, s.instruction_id, s.opcode
  FROM made AS m
  JOIN sided AS s USING (module_id, sides)
  UNION
  SELECT m.module_id, m.sides, r.instruction_id, r.opcode
  FROM made AS m
  JOIN sided AS s USING (module_id, sides)
  JOIN operands AS e
    ON e.module_id = s.module_id
    AND e.operand_id = s.instruction_id
  JOIN sided AS r
    ON r.module_id = e.module_id
    AND r.instruction_id = e.instruction_id
),
-- The same along the longest side, as a sum over that is.
scales AS MATERIALIZED (
  SELECT s.module_id, s.sides, s.instruction_id
  FROM made AS m
  JOIN sided AS s USING (module_id, sides)
  JOIN operands AS e USING (module_id, instruction_id)
  JOIN sided AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
  WHERE s.opcode = 'broadcast'
    AND list_product(CAST(o.sides AS DOUBLE[]))
      * list_max(CAST(s.sides AS DOUBLE[]))
      <= list_product(CAST(s.sides AS DOUBLE[]))
),
scaling AS MATERIALIZED (
  SELECT module_id, instruction_id FROM scales
  UNION
  SELECT s.module_id, s.instruction_id
  FROM scales AS c
  JOIN operands AS e
    ON e.module_id = c.module_id
    AND e.operand_id = c.instruction_id
  JOIN sided AS s
    ON s.module_id = e.module_id
    AND s.instruction_id = e.instruction_id
  WHERE s.opcode = 'convert'
),
-- Two arrays of these sides, element by element, as with a mask.
pairwise AS (
  SELECT s.module_id, s.sides
  FROM made AS m
  JOIN sided AS s USING (module_id, sides)
  JOIN operands AS e USING (module_id, instruction_id)
  JOIN sided AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
    AND o.sides = s.sides
  ANTI JOIN scaling AS c
    ON c.module_id = o.module_id
    AND c.instruction_id = o.instruction_id
  WHERE s.opcode IN ('divide', 'multiply')
  GROUP BY s.module_id, s.sides, s.instruction_id
  HAVING count(*) > 1
),
linear AS (
  SELECT t.module_id, t.sides
  FROM touching AS t
  SEMI JOIN multiplied AS m USING (module_id, sides)
  ANTI JOIN pairwise AS p USING (module_id, sides)
  LEFT JOIN summing AS c
    ON c.module_id = t.module_id
    AND c.instruction_id = t.instruction_id
    AND t.opcode = 'reduce'
  GROUP BY t.module_id, t.sides
  HAVING bool_and(t.opcode IN (
    'bitcast', 'broadcast', 'convert', 'convolution', 'copy', 'divide', 'dot',
    'fusion', 'get-tuple-element', 'multiply', 'parameter', 'reduce',
    'reshape', 'transpose', 'tuple'
  ))
    AND NOT bool_or(coalesce(c.is_other, FALSE))
)
SELECT v.module_id, v.value_id
FROM arrays AS v
JOIN linear AS l
  ON l.module_id = v.module_id
  AND l.sides = list_sort(list_filter(
    string_split(v.dimensions, ','), lambda x: x <> '1'
  ))
WHERE v.kind = 'temp'
