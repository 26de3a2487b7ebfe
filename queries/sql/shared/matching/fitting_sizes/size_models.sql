-- step: Series of sizes with their greatest compiled size and the next one,
--   the limit, and what compiled sizes say of it: the last that fits before
--   the first that does not, and the last that fits beyond it.
-- grain: model
WITH sizes AS MATERIALIZED (
  SELECT
    s.subject, s.color AS space_color, s.axis, s.other_axes, s.axis_size,
    s.module_id, s.run_id, s.platform, s.space_name, p.reserved_bytes,
    p.temp_bytes,
    row_number() OVER (
      PARTITION BY s.subject, s.color, s.axis, s.other_axes
      ORDER BY s.axis_size DESC, s.module_id
    ) AS place
  FROM size_slices() AS s
  JOIN memory_profile AS p
    ON p.module_id = s.module_id
    AND p.color = s.color
),
judged AS (
  SELECT
    s.*,
    min(l.limit_bytes) OVER (PARTITION BY s.subject, s.space_color)
      AS usable_bytes
  FROM sizes AS s
  LEFT JOIN memory_limits() AS l
    ON l.run_id = s.run_id
    AND l.platform IS NOT DISTINCT FROM s.platform
    AND l.color = s.space_color
    AND l.space_name = s.space_name
),
grouped AS (
  SELECT
    j.subject, j.space_color, j.axis, j.other_axes,
    any_value(j.usable_bytes) AS usable_bytes,
    any_value(j.platform) AS platform, min(j.axis_size) AS min_size,
    arg_min(j.module_id, j.place) AS base_id,
    max(j.axis_size) AS base_size,
    arg_min(j.reserved_bytes, j.place) AS base_bytes,
    arg_min(j.temp_bytes, j.place) AS base_temp_bytes,
    arg_min(j.module_id, j.place) FILTER (WHERE j.place > 1) AS lesser_id,
    arg_min(j.axis_size, j.place) FILTER (WHERE j.place > 1) AS lesser_size,
    min(j.axis_size) FILTER (WHERE j.reserved_bytes > j.usable_bytes)
      AS first_over,
    list({size: j.axis_size, bytes: j.reserved_bytes} ORDER BY j.axis_size)
      AS compiled
  FROM judged AS j
  GROUP BY j.subject, j.space_color, j.axis, j.other_axes
)
SELECT
  *,
  row_number() OVER (ORDER BY base_id, space_color, axis, other_axes)
    AS model,
  list_max(list_transform(
    list_filter(
      compiled,
      lambda c: c.bytes <= usable_bytes
        AND c.size < coalesce(first_over, c.size + 1)
    ),
    lambda c: c.size
  )) AS last_fitting,
  list_max(list_transform(
    list_filter(
      compiled,
      lambda c: c.bytes <= usable_bytes
        AND c.size > first_over
    ),
    lambda c: c.size
  )) AS fitting_beyond
FROM grouped
WHERE lesser_size < base_size
