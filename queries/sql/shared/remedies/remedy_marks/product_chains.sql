-- step: Products that are only scaled, summed and multiplied with another
--   array, (A B) C, in programs without a backward pass: A (B C) needs none of
--   them. Of no array of as many elements is anything else computed.
-- grain: value
WITH sized AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.opcode, i.logical_bytes,
    p.instruction_id IS NOT NULL AS is_product,
    CAST(regexp_extract_all(
      regexp_extract(i.shape, '^\w+\[([\d,]*)\]', 1), '\d+'
    ) AS DOUBLE[]) AS sides,
    coalesce(list_product(sides), 1) AS elements
  FROM scheduled_instructions AS i
  JOIN program_traits AS t ON t.module_id = i.module_id
  LEFT JOIN products AS p
    ON p.module_id = i.module_id
    AND p.instruction_id = i.instruction_id
  WHERE NOT t.has_backward
),
-- Each instruction with each of its operands.
reads AS MATERIALIZED (
  SELECT
    r.module_id, r.instruction_id, r.opcode, r.is_product, r.logical_bytes,
    r.elements, o.instruction_id AS operand_id, o.elements AS operand_elements,
    o.logical_bytes AS operand_bytes, list_max(r.sides) AS longest_side
  FROM sized AS r
  JOIN operands AS e USING (module_id, instruction_id)
  JOIN sized AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
),
made AS MATERIALIZED (
  SELECT module_id, elements
  FROM reads
  WHERE is_product
  GROUP BY module_id, elements
  HAVING max(logical_bytes) >= 8 * max(operand_bytes)
),
-- Copies of a sum or number along the longest side, and these converted.
scales AS MATERIALIZED (
  SELECT module_id, instruction_id
  FROM reads
  WHERE opcode = 'broadcast'
    AND operand_elements * longest_side <= elements
),
scaling AS MATERIALIZED (
  SELECT module_id, instruction_id FROM scales
  UNION
  SELECT r.module_id, r.instruction_id
  FROM reads AS r
  JOIN scales AS s
    ON s.module_id = r.module_id
    AND s.instruction_id = r.operand_id
  WHERE r.opcode = 'convert'
),
-- Two arrays of as many elements, one by one, as with a mask.
pairwise AS (
  SELECT r.module_id, r.elements
  FROM reads AS r
  ANTI JOIN scaling AS s
    ON s.module_id = r.module_id
    AND s.instruction_id = r.operand_id
  WHERE r.opcode IN ('divide', 'multiply')
    AND r.operand_elements = r.elements
  GROUP BY r.module_id, r.elements, r.instruction_id
  HAVING count(*) > 1
),
-- What a reduction calls that is no sum.
comparing AS (
  SELECT DISTINCT c.module_id, c.instruction_id
  FROM called_computations AS c
  JOIN scheduled_instructions AS r USING (module_id, computation_id)
  WHERE r.opcode IN ('and', 'compare', 'maximum', 'minimum', 'or')
),
-- What has as many elements, and what reads it.
touching AS (
  SELECT module_id, elements, instruction_id, opcode FROM sized
  UNION
  SELECT module_id, operand_elements, instruction_id, opcode FROM reads
),
linear AS (
  SELECT t.module_id, t.elements
  FROM touching AS t
  SEMI JOIN made AS m USING (module_id, elements)
  ANTI JOIN pairwise AS p USING (module_id, elements)
  LEFT JOIN comparing AS c
    ON c.module_id = t.module_id
    AND c.instruction_id = t.instruction_id
    AND t.opcode = 'reduce'
  GROUP BY t.module_id, t.elements
  HAVING bool_and(t.opcode IN (
    'bitcast', 'broadcast', 'convert', 'convolution', 'copy', 'divide', 'dot',
    'fusion', 'get-tuple-element', 'multiply', 'parameter', 'reduce',
    'reshape', 'transpose', 'tuple'
  ))
    AND count(c.instruction_id) = 0
)
SELECT DISTINCT v.module_id, v.value_id
FROM arrays AS v
JOIN linear AS l ON l.module_id = v.module_id
SEMI JOIN reads AS r
  ON r.module_id = l.module_id
  AND r.is_product
  AND r.operand_elements = l.elements
  AND r.elements <> l.elements
WHERE v.kind = 'temp'
  AND list_product(CAST(
    regexp_extract_all(v.dimensions, '\d+') AS DOUBLE[]
  )) = l.elements
