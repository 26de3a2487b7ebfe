-- title: Largest sizes by the laws of buffers
-- question: Up to which size does a program fit, by how each of its buffers
--   grows?
-- definition: For each series of sizes (size_slices), the dimensions of every
--   buffer of the greatest compiled size grow in proportion between it and the
--   next one, by buffers that both have; a buffer that only the greatest has
--   takes its dimensions from others of its size. Dimensions are rounded up to
--   tiles. Reserved memory at a size is all allocations that are not
--   temporary, and the highest sum of temporary buffers over the schedule,
--   times the fragmentation at the greatest compiled size. largest_size is the
--   greatest size that stays within the limit. lower_size leaves room for
--   twice the largest error at a compiled size, at least for 2 %, for more the
--   farther it is from the greatest compiled size, and for all that grows in
--   other memory spaces; upper_size leaves as much on the other side. For both
--   and for largest_size, what other memory spaces hold beyond 128 MiB, the
--   VMEM of a TPU, counts here. Sizes that were compiled bound all three, and
--   lower_size is at most twice the greatest of them: beyond, the compiler may
--   decide otherwise.
-- grain: subject, memory space, axis, other axes
-- steps: size_models, axis_names, sized_values, paired_values,
--   renamed_sizes, buffer_laws, growing_parts, compiled_errors
-- param program
-- param series
-- param color
-- param limit_bytes BIGINT = NULL from 0 to 1000000000000000000: Memory of the
--   memory space, color 0 unless color is set; NULL for the limit that is
--   known of it, see memory_limits.
-- param limit_devices
-- param limit_spaces
-- param limit_sizes
-- param module_ids
-- column subject BIGINT id neutral: Number of the subject in size_slices (with
--   the same parameters).
-- column color
-- column axis VARCHAR name neutral: Dimensions that change together.
-- column other_axes VARCHAR text neutral: Sizes of the other axes; NULL if
--   there are none.
-- column axis_name VARCHAR name neutral: The first of these dimensions, with
--   the name of the argument where it is known, such as tokens[0].
-- column largest_size BIGINT count higher_is_better: Greatest size that fits
--   by the laws; NULL if memory does not grow.
-- column lower_size BIGINT count higher_is_better: Greatest size that fits
--   even if the laws are a little wrong; NULL if memory does not grow.
-- column upper_size BIGINT count higher_is_better: Greatest size that may fit;
--   NULL if memory does not grow.
-- column error_ratio DOUBLE ratio lower_is_better: Largest error of the laws
--   at a compiled size, as a share of what the greatest reserves.
WITH RECURSIVE goals AS MATERIALIZED (
  SELECT
    m.model, m.usable_bytes, m.base_size, m.base_bytes, e.fast_bytes,
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
            e.* EXCLUDE (bytes, own_bytes, room_bytes),
            unnest([e.start_step, e.end_step + 1]) AS step,
            unnest(
              CASE WHEN e.is_main THEN [e.bytes, -e.bytes] ELSE [0, 0] END
            ) AS main_change,
            unnest(
              CASE WHEN e.is_main THEN [0, 0] ELSE [e.bytes, -e.bytes] END
            ) AS other_change
          FROM (
            SELECT
              c.*, f.start_step, f.end_step, f.is_main,
              f.unit_bytes * coalesce(list_product(list_transform(
                f.dimensions,
                lambda d: ceil(greatest(
                  d.greatest_size + d.slope * (c.size - f.base_size), 1
                ) / d.tile) * d.tile
              )), 1) AS own_bytes,
              f.host_bytes * coalesce(list_product(list_transform(
                f.host_dimensions,
                lambda d: ceil(greatest(
                  d.greatest_size + d.slope * (c.size - f.base_size), 1
                ) / d.tile) * d.tile
              )), 1) AS room_bytes,
              CASE WHEN room_bytes IS NULL OR own_bytes > room_bytes
                THEN own_bytes ELSE 0 END AS bytes
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
  m.subject, m.space_color AS color, m.axis, m.other_axes, n.axis_name,
  greatest(least(a.largest_size, m.first_over - 1), m.last_fitting)
    AS largest_size,
  greatest(
    least(a.lower_size, 2 * m.base_size, m.first_over - 1), m.last_fitting
  ) AS lower_size,
  greatest(least(a.upper_size, m.first_over - 1), m.last_fitting)
    AS upper_size,
  e.error_ratio
FROM size_models AS m
JOIN compiled_errors AS e USING (model)
LEFT JOIN answers AS a USING (model)
LEFT JOIN axis_names AS n USING (model)
