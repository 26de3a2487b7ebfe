-- step: Matrices and spectra that are made whole, though less would do: a
--   matrix of which only diagonals are given, the derivatives of many numbers
--   by all of an argument, the whole spectrum of real numbers.
-- grain: value
WITH given AS MATERIALIZED (
  SELECT
    a.module_id,
    list(DISTINCT CAST(list_product(list_transform(
      string_split(a.dimensions, ','), lambda x: TRY_CAST(x AS DOUBLE)
    )) AS BIGINT)) AS counts,
    flatten(list(string_split(a.dimensions, ',')) FILTER (
      WHERE a.dimensions LIKE '%,%'
    )) AS sides
  FROM arguments AS a
  WHERE a.dimensions <> ''
  GROUP BY a.module_id
),
sized AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.instruction_id, v.name, v.dimensions,
    v.element_type, string_split(v.dimensions, ',') AS sides
  FROM arrays AS v
  WHERE v.kind = 'temp'
    AND v.dimensions LIKE '%,%'
),
-- One derivative for each number of an argument: jax.jacfwd, jax.jacrev.
basis AS MATERIALIZED (
  SELECT DISTINCT s.module_id, x.side
  FROM sized AS s
  JOIN given AS g USING (module_id)
  CROSS JOIN unnest(s.sides) AS x(side)
  WHERE regexp_matches(s.name, 'vmap\((jvp|transpose)\(')
    AND CAST(x.side AS BIGINT) >= 256
    AND list_contains(g.counts, CAST(x.side AS BIGINT))
    AND NOT list_contains(coalesce(g.sides, []), x.side)
),
real_inputs AS MATERIALIZED (
  SELECT s.module_id, s.dimensions, s.element_type
  FROM sized AS s
  JOIN operands AS o
    ON o.module_id = s.module_id
    AND o.instruction_id = s.instruction_id
  JOIN arrays AS v
    ON v.module_id = o.module_id
    AND v.instruction_id = o.operand_id
    AND v.dimensions = s.dimensions
  JOIN operands AS r
    ON r.module_id = s.module_id
    AND r.operand_id = s.instruction_id
  JOIN scheduled_instructions AS i
    ON i.module_id = r.module_id
    AND i.instruction_id = r.instruction_id
  WHERE s.element_type IN ('c64', 'c128')
    AND i.opcode = 'fft'
  GROUP BY s.module_id, s.value_id, s.dimensions, s.element_type
  HAVING bool_and(v.element_type IN ('f32', 'f64'))
)
SELECT s.module_id, s.value_id, 'banded' AS mark
FROM sized AS s
JOIN given AS g USING (module_id)
JOIN program_traits AS t USING (module_id)
WHERE t.is_exact
  AND len(s.sides) = 2
  AND s.sides[1] = s.sides[2]
  AND CAST(s.sides[1] AS BIGINT) >= 1024
  AND list_contains(g.counts, CAST(s.sides[1] AS BIGINT))
  AND NOT list_contains(coalesce(g.sides, []), s.sides[1])
UNION ALL
SELECT DISTINCT s.module_id, s.value_id, 'jacobian'
FROM sized AS s
JOIN basis AS b
  ON b.module_id = s.module_id
  AND len(list_filter(
    s.sides, lambda x: CAST(x AS BIGINT) > 0
      AND CAST(x AS BIGINT) % CAST(b.side AS BIGINT) = 0
  )) > 0
UNION ALL
SELECT s.module_id, s.value_id, 'spectrum'
FROM sized AS s
SEMI JOIN real_inputs AS r
  ON r.module_id = s.module_id
  AND r.dimensions = s.dimensions
  AND r.element_type = s.element_type
