-- step: Values of the greatest size, with the dimensions that they have in the
--   next one; NULL for those that it lacks, and for those whose dimensions
--   there are no law of the size: values of equal names may be others. is_kept
--   is false for values that a compiler for an accelerator computes again
--   where memory is short.
-- grain: model, value, place
WITH numbers AS (
  SELECT DISTINCT module_id, unnest(sizes) AS number
  FROM sized_values
),
known AS MATERIALIZED (
  SELECT module_id, list(number) AS numbers FROM numbers GROUP BY module_id
),
paired AS (
  SELECT
    m.*, g.value_id, g.color = m.space_color AS is_main, g.kind,
    g.allocation_id, g.allocation_bytes, g.offset_bytes, g.size_bytes,
    g.start_step, g.end_step, g.sizes, g.tile, g.minor_to_major, g.opcode,
    g.is_phi, l.sizes AS other_sizes
  FROM size_models AS m
  JOIN sized_values AS g ON g.module_id = m.base_id
  LEFT JOIN sized_values AS l
    ON l.module_id = m.lesser_id
    AND l.opcode = g.opcode
    AND l.op_name = g.op_name
    AND l.element_type = g.element_type
    AND len(l.sizes) = len(g.sizes)
    AND l.shape_index IS NOT DISTINCT FROM g.shape_index
    AND l.alike_count = g.alike_count
    AND l.ordinal = g.ordinal
),
-- Numbers that more values keep than not, such as the width of a layer.
stays AS MATERIALIZED (
  SELECT model, list(number) AS numbers
  FROM (
    SELECT model, vote.number
    FROM (
      SELECT
        model, unnest(list_transform(
          list_zip(sizes, other_sizes), lambda d: {
            number: d[1], side: CASE WHEN d[1] = d[2] THEN 1 ELSE -1 END
          }
        )) AS vote
      FROM paired
      WHERE other_sizes IS NOT NULL
    )
    GROUP BY model, vote.number
    HAVING sum(vote.side) > 0
  )
  GROUP BY model
)
SELECT
  p.model, p.space_color, p.base_size, p.lesser_size, p.base_temp_bytes,
  p.value_id, p.is_main, p.kind, p.allocation_id, p.allocation_bytes,
  p.offset_bytes, p.size_bytes, p.start_step, p.end_step, p.sizes, p.tile,
  p.minor_to_major,
  -- A law of the size: in proportion to it, or as many more as it has, or one
  -- for a number of these, as windows have; others are numbers that the other
  -- size lacks.
  CASE WHEN list_bool_and(list_transform(
    list_zip(p.sizes, p.other_sizes),
    lambda d: d[1] = d[2]
      OR d[1] = p.base_size AND d[2] = p.lesser_size
      OR (
        d[1] * p.lesser_size = d[2] * p.base_size
        OR d[1] - d[2] = p.base_size - p.lesser_size
        OR d[1] > d[2]
        AND (p.base_size - p.lesser_size) % (d[1] - d[2]) = 0
        AND abs(
          d[1] * (p.base_size - p.lesser_size) / (d[1] - d[2]) - p.base_size
        ) < 0.1 * p.base_size
      ) AND NOT coalesce(list_contains(t.numbers, d[1]), FALSE)
      OR NOT (
        list_contains(b.numbers, d[2]) OR list_contains(o.numbers, d[1])
      )
  )) THEN p.other_sizes END AS lesser_sizes,
  coalesce(lower(p.platform), 'cpu') IN ('cpu', 'host')
  OR coalesce(p.is_phi, FALSE)
  OR regexp_full_match(
    p.opcode,
    '|(while|(custom-)?call|conditional|parameter|constant|(get-)?tuple.*'
    || '|rng.*|all-.*|collective-.*|reduce-scatter|.*feed|send|recv'
    || '|.*-(start|update|done))'
  ) AS is_kept,
  row_number() OVER (ORDER BY p.model, p.value_id, p.allocation_id) AS place
FROM paired AS p
LEFT JOIN known AS b ON b.module_id = p.base_id
LEFT JOIN known AS o ON o.module_id = p.lesser_id
LEFT JOIN stays AS t ON t.model = p.model
