-- step: Temporary arrays that their dimensions give away, outside of loops over
--   parts: logits over a vocabulary, scores of every pair of positions,
--   differences of every pair of points, and gradients of every example.
-- grain: value, mark
WITH sized AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.name, v.element_type, v.dimensions,
    v.size_bytes, v.instruction_id,
    list_transform(
      string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sizes
  FROM arrays AS v
  WHERE v.kind IN ('temp', 'live_out')
    AND v.dimensions LIKE '%,%'
    AND v.element_type IN ('f32', 'bf16', 'f16', 'f64')
    AND v.opcode <> 'parameter'
),
weights AS MATERIALIZED (
  SELECT DISTINCT
    a.module_id, a.dimensions,
    list_sort(list_transform(
      string_split(a.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    )) AS sizes
  FROM arguments AS a
  WHERE a.dimensions LIKE '%,%'
    AND NOT a.is_input
),
every_matrix AS MATERIALIZED (
  SELECT DISTINCT module_id, dimensions
  FROM arrays
  WHERE dimensions LIKE '%,%'
    AND dimensions NOT LIKE '%,%,%'
),
logits AS (
  SELECT DISTINCT v.module_id, v.value_id, 'logits' AS mark
  FROM sized AS v
  JOIN program_traits AS t
    ON t.module_id = v.module_id
    AND t.has_backward
  JOIN weights AS w
    ON w.module_id = v.module_id
    AND len(w.sizes) = 2
    AND w.sizes[2] >= 8 * w.sizes[1]
    AND w.sizes[2] >= 1024
    AND list_contains(v.sizes, w.sizes[2])
    AND NOT list_contains(v.sizes, w.sizes[1])
  JOIN scheduled_instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
    AND c.kind = 'entry'
  ANTI JOIN weights AS a
    ON a.module_id = v.module_id
    AND a.sizes = list_sort(v.sizes)
  WHERE v.name NOT LIKE '%one_hot%'
),
products AS MATERIALIZED (
  SELECT DISTINCT v.module_id, v.dimensions
  FROM sized AS v
  WHERE v.name LIKE '%dot_general%'
    OR v.name LIKE '%softmax%'
),
scores AS (
  SELECT v.module_id, v.value_id, 'scores'
  FROM sized AS v
  SEMI JOIN products AS p
    ON p.module_id = v.module_id
    AND p.dimensions = v.dimensions
  ANTI JOIN weights AS a
    ON a.module_id = v.module_id
    AND a.sizes = list_sort(v.sizes)
  WHERE len(v.sizes) >= 3
    AND v.sizes[-1] = v.sizes[-2]
    AND v.sizes[-1] >= 1024
),
differences AS (
  SELECT v.module_id, v.value_id, 'differences'
  FROM sized AS v
  SEMI JOIN every_matrix AS a
    ON a.module_id = v.module_id
    AND a.dimensions = v.sizes[1] || ',' || v.sizes[3]
  SEMI JOIN every_matrix AS b
    ON b.module_id = v.module_id
    AND b.dimensions = v.sizes[2] || ',' || v.sizes[3]
  SEMI JOIN every_matrix AS c
    ON c.module_id = v.module_id
    AND c.dimensions = v.sizes[1] || ',' || v.sizes[2]
  WHERE len(v.sizes) = 3
    AND regexp_matches(v.name, '/(sub|square|integer_pow|pow|abs)$')
),
examples AS (
  SELECT DISTINCT v.module_id, v.value_id, 'examples'
  FROM sized AS v
  JOIN batch_sizes AS b ON b.module_id = v.module_id
  JOIN weights AS w
    ON w.module_id = v.module_id
    AND v.dimensions = b.batch || ',' || w.dimensions
  JOIN program_traits AS t
    ON t.module_id = v.module_id
    AND t.has_backward
)
SELECT module_id, value_id, mark FROM logits
UNION ALL
SELECT * FROM scores
UNION ALL
SELECT * FROM differences
UNION ALL
SELECT * FROM examples
