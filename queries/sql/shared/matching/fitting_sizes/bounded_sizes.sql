-- step: The largest size of each series by its laws, and the least and the
--   greatest that it may be, between sizes that were compiled.
-- grain: model
WITH RECURSIVE goals AS MATERIALIZED (
  SELECT
    m.model, m.base_size, m.base_bytes, e.fast_bytes,
    CASE WHEN g.goal = 'lower' THEN least(m.usable_bytes, 2 * m.base_bytes)
      ELSE m.usable_bytes END AS usable_bytes,
    g.goal, g.direction, greatest(0.02, 2 * e.error_ratio) AS margin_ratio
  FROM size_models AS m
  JOIN compiled_errors AS e USING (model)
  CROSS JOIN (
    VALUES ('lower', 1), ('largest', 0), ('upper', -1)
  ) AS g (goal, direction)
  WHERE m.usable_bytes IS NOT NULL
),
-- The last size known to fit, and the first known not to: of the sizes between
-- them 16 are tried, at first powers of two.
search (model, goal, fits_size, over_size, round) AS (
  SELECT
    model, goal, CAST(0 AS BIGINT) AS fits_size,
    CAST(NULL AS BIGINT) AS over_size, 0 AS round
  FROM goals
  UNION ALL
  SELECT
    t.model, t.goal,
    coalesce(
      max(t.size) FILTER (
        WHERE t.is_fitting
          AND t.size < coalesce(t.first_over, t.size + 1)
      ), any_value(t.fits_size)
    ),
    coalesce(min(t.first_over), any_value(t.over_size)),
    any_value(t.round) + 1
  FROM (
    SELECT
      *,
      min(size) FILTER (WHERE NOT is_fitting) OVER (
        PARTITION BY model, goal
      ) AS first_over
    FROM (
      SELECT
        p.model, p.goal, p.size, p.fits_size, p.over_size, p.round,
        max(p.main_bytes) * (
          1 + g.margin_ratio * (1 + greatest(0, log2(p.size / g.base_size)))
        ) ** g.direction + greatest(
          0, max(p.other_bytes)
          - CASE WHEN g.goal = 'lower' THEN g.fast_bytes
            ELSE greatest(g.fast_bytes, 134217728) END
        )
          <= g.usable_bytes AS is_fitting
      FROM (
        SELECT
          model, goal, size, fits_size, over_size, round, step,
          sum(sum(main_change)) OVER in_order AS main_bytes,
          sum(sum(other_change)) OVER in_order AS other_bytes
        FROM (
          SELECT
            e.* EXCLUDE (bytes, own_bytes, room_bytes, spared_bytes),
            unnest(
              [e.start_step, e.end_step + 1, e.start_step + 1, e.end_step]
            ) AS step,
            unnest(list_transform(
              [e.bytes, -e.bytes, -e.spared_bytes, e.spared_bytes],
              lambda b: CASE WHEN e.is_main THEN b ELSE 0 END
            )) AS main_change,
            unnest(
              CASE WHEN e.is_main THEN [0, 0, 0, 0]
                ELSE [e.bytes, -e.bytes, 0, 0] END
            ) AS other_change
          FROM (
            SELECT
              c.*, f.start_step, f.end_step, f.is_main,
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
              )), 1) AS room_bytes,
              CASE WHEN room_bytes IS NULL OR own_bytes > room_bytes
                THEN own_bytes ELSE 0 END AS bytes,
              CASE WHEN c.goal = 'upper'
                  AND NOT f.is_kept
                  AND f.end_step > f.start_step
                THEN bytes ELSE 0 END AS spared_bytes
            FROM (
              SELECT
                s.*,
                unnest(list_distinct(CASE
                  WHEN s.round = 0 THEN list_transform(
                    range(0, 40), lambda power: CAST(2 ** power AS BIGINT)
                  )
                  ELSE list_transform(
                    range(1, 17),
                    lambda place: s.fits_size
                      + greatest(1, (s.over_size - s.fits_size) * place // 17)
                  )
                END)) AS size
              FROM search AS s
              WHERE s.round = 0
                OR (s.over_size - s.fits_size > 1 AND s.round < 16)
            ) AS c
            JOIN growing_parts AS f USING (model)
          ) AS e
        )
        GROUP BY model, goal, size, fits_size, over_size, round, step
        WINDOW in_order AS (
          PARTITION BY model, goal, size ORDER BY step
        )
      ) AS p
      JOIN goals AS g USING (model, goal)
      GROUP BY
        p.model, p.goal, p.size, p.fits_size, p.over_size, p.round,
        g.margin_ratio, g.direction, g.base_size, g.usable_bytes, g.fast_bytes,
        g.goal
    )
  ) AS t
  GROUP BY t.model, t.goal
),
found AS (
  SELECT
    model, goal, arg_max(fits_size, round) AS size
  FROM search
  GROUP BY model, goal
  HAVING arg_max(over_size, round) IS NOT NULL
),
answers AS (
  SELECT
    model,
    max(size) FILTER (WHERE goal = 'lower') AS lower_size,
    max(size) FILTER (WHERE goal = 'largest') AS largest_size,
    max(size) FILTER (WHERE goal = 'upper') AS upper_size
  FROM found
  GROUP BY model
)
SELECT
  m.*,
  greatest(least(a.largest_size, m.first_over - 1), m.last_fitting)
    AS largest_size,
  greatest(
    least(a.lower_size, 2 * m.base_size, m.first_over - 1), m.last_fitting
  ) AS lower_size,
  greatest(
    least(a.upper_size, m.first_over - 1), m.last_fitting
  ) AS upper_size
FROM size_models AS m
LEFT JOIN answers AS a USING (model)
