-- step: Arrays that are widened or gathered for all iterations of a loop
--   before it, and of which each iteration reads its part, where an argument
--   has as many parts that are smaller: weights of all layers. Also copies of
--   whole inputs with their rows in another order, such as shuffled examples;
--   they go whole where each iteration has a copy of its part already, and
--   with those that are wider than the inputs goes what was widened first.
--   Also all that stacked_examples holds.
-- grain: value
WITH carried AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.size_bytes,
    min(r.loop_name) AS loop_name,
    bool_or(v.opcode IN ('all-gather', 'all-gather-done')) AS is_gathered,
    bool_or(
      v.opcode = 'convert' OR v.name LIKE '%/convert_element_type'
    ) AS is_converted,
    list_transform(
      string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sides
  FROM read_stacks AS r
  JOIN arrays AS v USING (module_id, value_id)
  WHERE v.name <> ''
    AND NOT contains(v.name, '/while/body/')
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
),
gathers AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id
  FROM scheduled_instructions AS i
  WHERE i.opcode = 'gather'
  UNION
  SELECT c.module_id, c.instruction_id
  FROM called_computations AS c
  JOIN scheduled_instructions AS i USING (module_id, computation_id)
  WHERE i.opcode = 'gather'
),
sized AS MATERIALIZED (
  SELECT
    v.*,
    list_product(CAST(string_split(v.dimensions, ',') AS DOUBLE[]))
      AS elements
  FROM arrays AS v
  WHERE v.dimensions LIKE '%,%'
),
reordered AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, any_value(v.logical_bytes) AS logical_bytes,
    any_value(v.elements) AS elements,
    any_value(v.element_type) AS element_type,
    bool_and(s.logical_bytes < v.logical_bytes) AS is_widened,
    min(r.loop_name) AS loop_name, any_value(w.trip_count) AS step_count,
    bool_or(p.value_id IS NOT NULL) AS has_part
  FROM read_stacks AS r
  JOIN sized AS v USING (module_id, value_id)
  SEMI JOIN gathers AS g
    ON g.module_id = v.module_id
    AND g.instruction_id = v.instruction_id
  JOIN loops() AS w
    ON w.module_id = r.module_id
    AND w.instruction_id = r.loop_id
    AND CAST(w.trip_count AS VARCHAR) = split_part(v.dimensions, ',', 1)
  JOIN arguments AS a
    ON a.module_id = v.module_id
    AND a.is_input
  JOIN sized AS s
    ON s.module_id = a.module_id
    AND s.value_id = a.value_id
    AND s.elements = v.elements
    AND (
      s.element_type = v.element_type
      OR s.logical_bytes < v.logical_bytes
    )
  LEFT JOIN arrays AS p
    ON p.module_id = v.module_id
    AND p.kind = 'temp'
    AND p.instruction LIKE '%dynamic-slice%'
    AND p.element_type = v.element_type
    AND p.logical_bytes * w.trip_count = v.logical_bytes
  WHERE w.trip_count > 1
  GROUP BY v.module_id, v.value_id
),
-- With what is gathered in an order what was widened for it.
reordered_arrays AS (
  SELECT
    module_id, value_id, logical_bytes, loop_name, step_count, has_part
  FROM reordered
  UNION
  SELECT
    v.module_id, v.value_id, v.logical_bytes, r.loop_name, r.step_count,
    r.has_part
  FROM reordered AS r
  JOIN sized AS v
    ON v.module_id = r.module_id
    AND v.elements = r.elements
    AND v.element_type = r.element_type
    AND v.kind = 'temp'
    AND NOT contains(v.name, '/while/body/')
  WHERE r.is_widened
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
  AND 4 * c.size_bytes >= 5 * a.size_bytes
  -- Of integers there are no gradients, which have the dimensions of weights.
  AND (
    c.is_gathered
    OR (c.is_converted OR a.is_quantised) AND c.sides = a.sides
  )
  AND list_bool_and(list_transform(
    list_zip(c.sides, a.sides), lambda pair: pair[1] % greatest(pair[2], 1) = 0
  ))
GROUP BY c.module_id, c.value_id
UNION
SELECT
  module_id, value_id, loop_name,
  -- A set has one share, that of its largest array.
  first_value(step_count - CAST(NOT has_part AS BIGINT)) OVER largest_first,
  first_value(step_count) OVER largest_first
FROM reordered_arrays
WINDOW largest_first AS (
  PARTITION BY module_id, loop_name ORDER BY logical_bytes DESC, value_id
)
UNION
SELECT module_id, value_id, loop_name, length - 1, length
FROM stacked_examples
