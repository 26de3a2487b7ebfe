-- step: Pairs where a checkpoint is around other parts of a model: most
--   of what is recomputed has the same path on both sides but for the place of
--   the checkpoint in it. The parts are what the path names after it.
-- grain: pair
WITH recomputed AS MATERIALIZED (
  SELECT DISTINCT
    o.pair, o.is_candidate, o.op_name,
    regexp_replace(
      o.op_name, '(checkpoint|remat\d*)/rematted_computation/', ''
    ) AS path_without,
    regexp_extract(o.op_name, 'rematted_computation/(\w+)/', 1) AS part
  FROM operations AS o
  SEMI JOIN recomputation_changes AS t USING (pair)
  WHERE o.is_recomputed
),
placed AS (
  SELECT
    r.*, e.op_name IS NOT NULL AS is_same,
    r.path_without IN (
      SELECT o.path_without
      FROM recomputed AS o
      WHERE o.pair = r.pair
        AND o.is_candidate <> r.is_candidate
    ) AS is_on_both_sides
  FROM recomputed AS r
  LEFT JOIN recomputed AS e
    ON e.pair = r.pair
    AND e.is_candidate <> r.is_candidate
    AND e.op_name = r.op_name
),
parts AS (
  SELECT
    pair, is_candidate, part, count(*) AS operation_count,
    sum(count(*)) OVER (PARTITION BY pair, is_candidate) AS moved_count
  FROM placed
  WHERE is_on_both_sides
    AND NOT is_same
    AND part <> ''
  GROUP BY pair, is_candidate, part
),
sides AS (
  SELECT
    pair, is_candidate, any_value(moved_count) AS moved_count,
    array_to_string(
      list_sort(list(part) FILTER (WHERE 20 * operation_count > moved_count)),
      ', '
    ) AS parts
  FROM parts
  GROUP BY pair, is_candidate
)
SELECT b.pair, b.parts AS base_parts, c.parts AS candidate_parts
FROM sides AS b
JOIN sides AS c
  ON c.pair = b.pair
  AND c.is_candidate
  AND NOT b.is_candidate
JOIN (
  SELECT pair, min(operation_count) AS operation_count
  FROM (
    SELECT pair, is_candidate, count(*) AS operation_count
    FROM recomputed
    GROUP BY pair, is_candidate
  )
  GROUP BY pair
) AS a ON a.pair = b.pair
WHERE 2 * least(b.moved_count, c.moved_count) > a.operation_count
  AND b.parts <> c.parts
