-- step: What is reserved at the largest size, or else at the greatest compiled
--   one, in the step that needs most: what does not grow, what grows with the
--   size and with its square, which together are its bytes by the laws; and
--   the part of the memory that grows most from the smallest compiled size.
-- grain: model
WITH evaluated AS MATERIALIZED (
  SELECT
    e.* EXCLUDE (own_bytes, room_bytes),
    CASE WHEN e.room_bytes IS NULL OR e.own_bytes > e.room_bytes
      THEN e.own_bytes ELSE 0 END AS bytes
  FROM (
    SELECT
      c.model, c.size, f.kind, f.start_step, f.end_step,
      coalesce(list_sum(list_transform(
        f.dimensions,
        lambda d: CASE WHEN d.slope <> 0 THEN 1 ELSE d.power END
      )), 0) AS degree,
      coalesce(list_product(list_transform(
        list_filter(f.dimensions, lambda d: d.slope <> 0),
        lambda d: least(greatest(d.slope * c.size / greatest(
          d.fixed_size + (d.greatest_size - d.fixed_size)
          * (c.size / f.base_size) ** d.power
          + d.slope * (c.size - f.base_size), 1
        ), 0), 1)
      )), CASE WHEN degree > 0 THEN 1 ELSE 0 END) AS growing_ratio,
      f.unit_bytes * coalesce(list_product(list_transform(
        f.dimensions,
        lambda d: ceil(greatest(
          d.fixed_size + (d.greatest_size - d.fixed_size)
          * (c.size / f.base_size) ** d.power
          + d.slope * (c.size - f.base_size), 1
        ) / d.tile) * d.tile
      )), 1) AS own_bytes,
      f.host_bytes * coalesce(list_product(list_transform(
        f.host_dimensions,
        lambda d: ceil(greatest(
          d.fixed_size + (d.greatest_size - d.fixed_size)
          * (c.size / f.base_size) ** d.power
          + d.slope * (c.size - f.base_size), 1
        ) / d.tile) * d.tile
      )), 1) AS room_bytes
    FROM (
      SELECT
        model,
        unnest(list_distinct([
          min_size, coalesce(nullif(largest_size, 0), base_size)
        ]))
          AS size
      FROM bounded_sizes
    ) AS c
    JOIN growing_parts AS f USING (model)
    WHERE f.is_main
  ) AS e
),
highest AS (
  SELECT model, size, arg_max(step, (bytes, -step)) AS step
  FROM (
    SELECT
      model, size, step,
      sum(sum(change)) OVER (PARTITION BY model, size ORDER BY step) AS bytes
    FROM (
      SELECT
        model, size, unnest([start_step, end_step + 1]) AS step,
        unnest([bytes, -bytes]) AS change
      FROM evaluated
    )
    GROUP BY model, size, step
  )
  GROUP BY model, size
),
held AS (
  SELECT
    e.model, e.size, e.kind, sum(e.bytes) AS bytes,
    sum(e.bytes * CASE WHEN e.degree = 1 THEN e.growing_ratio
      WHEN e.degree > 1 THEN 1 - e.growing_ratio ELSE 0 END) / e.size
      AS linear_bytes,
    sum(CASE WHEN e.degree > 1 THEN e.bytes * e.growing_ratio ELSE 0 END)
      / e.size ** 2 AS quadratic_bytes
  FROM evaluated AS e
  JOIN highest AS h USING (model, size)
  WHERE h.step BETWEEN e.start_step AND e.end_step
  GROUP BY e.model, e.size, e.kind
)
SELECT
  h.model, sum(h.linear_bytes) AS linear_bytes,
  sum(h.quadratic_bytes) AS quadratic_bytes, sum(
    h.bytes - h.linear_bytes * h.size - h.quadratic_bytes * h.size ** 2
  ) AS constant_bytes,
  arg_max(h.kind, (h.bytes - coalesce(l.bytes, 0), h.kind)) FILTER (
    WHERE h.kind IS NOT NULL
      AND h.bytes > coalesce(l.bytes, 0)
  ) AS growing_part,
  max(h.bytes - coalesce(l.bytes, 0)) FILTER (
    WHERE h.kind IS NOT NULL
      AND h.bytes > coalesce(l.bytes, 0)
  ) AS growing_bytes
FROM held AS h
JOIN bounded_sizes AS b
  ON b.model = h.model
  AND h.size = coalesce(nullif(b.largest_size, 0), b.base_size)
LEFT JOIN held AS l
  ON l.model = b.model
  AND l.size = b.min_size
  AND l.kind = h.kind
GROUP BY h.model
