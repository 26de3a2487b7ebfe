-- step: Arrays that are widened or gathered for all iterations of a loop
--   before it, and of which each iteration reads its part, where an argument
--   has as many parts that are smaller: weights of all layers.
-- grain: value
WITH carried AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.size_bytes,
    min(w.instruction) AS loop_name,
    bool_or(
      v.opcode IN ('convert', 'all-gather', 'all-gather-done')
      OR v.name LIKE '%/convert_element_type'
    ) AS is_converted,
    list_transform(
      string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sides
  FROM described_values AS w
  JOIN store.value_positions AS p
    ON p.module_id = w.module_id
    AND p.instruction_id = w.instruction_id
  JOIN arrays AS v
    ON v.module_id = p.module_id
    AND v.value_id = p.value_id
  WHERE w.opcode = 'while'
    AND v.kind = 'temp'
    AND v.name <> ''
    AND NOT contains(v.name, '/while/body/')
    AND v.opcode NOT IN ('while', 'parameter', 'conditional', 'broadcast')
    AND v.dimensions LIKE '%,%,%'
  GROUP BY v.module_id, v.value_id, v.size_bytes, v.dimensions
),
stacked AS (
  SELECT
    a.module_id, v.size_bytes,
    regexp_matches(v.element_type, '^([su][0-9]|f8)') AS is_quantised,
    list_transform(
      string_split(a.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sides
  FROM arguments AS a
  JOIN arrays AS v USING (module_id, value_id)
  WHERE a.dimensions LIKE '%,%,%'
)
SELECT
  c.module_id, c.value_id, min(c.loop_name) AS loop_name,
  any_value(c.sides[1]) - 1 AS part, any_value(c.sides[1]) AS whole
FROM carried AS c
JOIN stacked AS a
  ON a.module_id = c.module_id
  AND len(a.sides) = len(c.sides)
  AND a.sides[1] = c.sides[1]
WHERE c.sides[1] > 1
  -- Of integers there are no gradients, which have the dimensions of weights.
  AND (c.is_converted OR (a.is_quantised AND c.sides = a.sides))
  AND 4 * c.size_bytes >= 5 * a.size_bytes
  AND list_bool_and(list_transform(
    list_zip(c.sides, a.sides), lambda pair: pair[1] % greatest(pair[2], 1) = 0
  ))
GROUP BY c.module_id, c.value_id
