-- step: Temporary arrays that a product reads, itself or in a fusion, with the
--   instructions that make all of them, themselves or in a fusion.
-- grain: value, instruction
WITH readers AS (
  SELECT module_id, instruction_id FROM products
  UNION
  SELECT c.module_id, c.instruction_id
  FROM called_computations AS c
  JOIN products AS p USING (module_id, computation_id)
),
read_arrays AS MATERIALIZED (
  SELECT DISTINCT
    v.module_id, v.value_id, v.instruction_id, v.element_type, v.dimensions,
    v.logical_bytes
  FROM arrays AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
  SEMI JOIN readers AS r
    ON r.module_id = u.module_id
    AND r.instruction_id = u.instruction_id
  WHERE v.kind = 'temp'
)
SELECT v.*, v.instruction_id AS maker_id
FROM read_arrays AS v
UNION
SELECT v.*, i.instruction_id
FROM read_arrays AS v
JOIN called_computations AS c USING (module_id, instruction_id)
JOIN scheduled_instructions AS i
  ON i.module_id = c.module_id
  AND i.computation_id = c.computation_id
  AND i.logical_bytes = v.logical_bytes
