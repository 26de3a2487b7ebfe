-- step: How far the laws are from what compiled sizes reserve, as a share of
--   the most, and what the greatest holds in other memory spaces at most.
-- grain: model
WITH held AS (
  SELECT
    model, size, reserved_bytes, base_size, is_main,
    max(bytes) AS bytes
  FROM (
    SELECT
      model, size, reserved_bytes, base_size, is_main,
      sum(sum(change)) OVER (
        PARTITION BY model, size, is_main ORDER BY step
      ) AS bytes
    FROM (
      SELECT
        e.model, e.size, e.reserved_bytes, e.base_size, e.is_main,
        unnest([e.start_step, e.end_step + 1]) AS step,
        unnest([e.bytes, -e.bytes]) AS change
      FROM (
        SELECT
          c.model, c.compiled.size AS size,
          c.compiled.bytes AS reserved_bytes, f.base_size, f.start_step,
          f.end_step, f.is_main,
          f.unit_bytes * coalesce(list_product(list_transform(
            f.dimensions,
            lambda d: ceil(greatest(
              d.fixed_size + (d.greatest_size - d.fixed_size)
              * (c.compiled.size / f.base_size) ** d.power
              + d.slope * (c.compiled.size - f.base_size), 1
            ) / d.tile) * d.tile
          )), 1) AS own_bytes,
          f.host_bytes * coalesce(list_product(list_transform(
            f.host_dimensions,
            lambda d: ceil(greatest(
              d.fixed_size + (d.greatest_size - d.fixed_size)
              * (c.compiled.size / f.base_size) ** d.power
              + d.slope * (c.compiled.size - f.base_size), 1
            ) / d.tile) * d.tile
          )), 1) AS room_bytes,
          CASE WHEN room_bytes IS NULL OR own_bytes > room_bytes
            THEN own_bytes ELSE 0 END AS bytes
        FROM (
          SELECT model, unnest(compiled) AS compiled FROM size_models
        ) AS c
        JOIN growing_parts AS f USING (model)
      ) AS e
    )
    GROUP BY model, size, reserved_bytes, base_size, is_main, step
  )
  GROUP BY model, size, reserved_bytes, base_size, is_main
)
SELECT
  model,
  max(abs(bytes - reserved_bytes)) FILTER (WHERE is_main)
  / nullif(max(reserved_bytes), 0) AS error_ratio,
  CAST(round(
    max(abs(bytes - reserved_bytes)) FILTER (WHERE is_main)
  ) AS BIGINT) AS max_residual_bytes,
  coalesce(
    max(bytes) FILTER (WHERE NOT is_main AND size = base_size), 0
  ) AS fast_bytes
FROM held
GROUP BY model
