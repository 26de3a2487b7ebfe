-- step: Arrays of a backward pass with a row for each output, as jax.jacrev
--   computes them: jax.vmap is around the backward pass alone. There are as
--   many rows as the greatest first dimension that nearly all of them have,
--   or a multiple of it. part of whole: with one row, as of their sum, or with
--   an eighth of them where all are a result.
-- grain: value
WITH pullbacks AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.size_bytes, v.dimensions,
    list_transform(
      string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sides
  FROM arrays AS v
  WHERE v.kind = 'temp'
    AND v.dimensions LIKE '%,%'
    AND regexp_matches(v.name, '(^|/)vmap\(transpose\(jvp\(')
),
-- For each of several examples the forward pass is mapped, too.
examples AS (
  SELECT DISTINCT module_id
  FROM scheduled_instructions
  WHERE regexp_matches(op_name, '(^|/)vmap\((vmap|jvp)\(')
),
counts AS (
  SELECT c.module_id, max(c.row_count) AS row_count
  FROM (
    SELECT
      p.module_id, r.row_count,
      sum(p.size_bytes) FILTER (
        WHERE len(list_filter(p.sides, lambda x: x % r.row_count = 0)) > 0
      ) >= 0.9 * sum(p.size_bytes) AS is_of_most
    FROM pullbacks AS p
    JOIN (
      SELECT DISTINCT module_id, sides[1] AS row_count
      FROM pullbacks
      WHERE sides[1] >= 8
    ) AS r
      ON r.module_id = p.module_id
    ANTI JOIN examples AS e ON e.module_id = p.module_id
    GROUP BY p.module_id, r.row_count
  ) AS c
  WHERE c.is_of_most
  GROUP BY c.module_id
),
shaped AS (
  SELECT DISTINCT p.module_id, p.dimensions, c.row_count
  FROM pullbacks AS p
  JOIN counts AS c
    ON c.module_id = p.module_id
    AND len(list_filter(p.sides, lambda x: x % c.row_count = 0)) > 0
)
SELECT
  v.module_id, v.value_id,
  format('backward passes of {:,} outputs at once', s.row_count) AS subject,
  s.row_count - CASE WHEN o.module_id IS NULL THEN 1
    ELSE greatest(1, s.row_count // 8) END AS part, s.row_count AS whole
FROM shaped AS s
JOIN arrays AS v
  ON v.module_id = s.module_id
  AND v.dimensions = s.dimensions
LEFT JOIN (
  SELECT DISTINCT
    r.module_id,
    TRY_CAST(split_part(r.dimensions, ',', 1) AS BIGINT) AS row_count
  FROM arrays AS r
  SEMI JOIN result_places() AS p
    ON p.module_id = r.module_id
    AND p.value_id = r.value_id
) AS o
  ON o.module_id = s.module_id
  AND o.row_count = s.row_count
WHERE v.kind = 'temp'
  AND (
    v.name = ''
    OR regexp_matches(v.name, '(^|/)vmap\(transpose\(jvp\(')
  )
