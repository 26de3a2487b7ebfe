-- Laws of reserved memory over sizes among the modules $modules of series $series,
-- as scaling_law has them; $limit is that of colour $color, unless both are null.
-- A law is a row for each of its points, the sizes that were compiled.
WITH laws AS (
  SELECT *
  FROM scaling_law(
    series := $series, color := $color, limit_bytes := $limit,
    module_ids := from_json($modules, '["BIGINT"]')
  )
  WHERE part = 'reserved'
),
slices AS (
  SELECT *
  FROM size_slices(
    series := $series, color := $color,
    module_ids := from_json($modules, '["BIGINT"]')
  )
)
SELECT
  l.program, l.platform, l.color, l.space_name, l.axis, l.other_axes,
  l.constant_bytes, l.linear_bytes, l.quadratic_bytes, l.r2_ratio,
  l.max_residual_bytes, l.usable_bytes, l.largest_size, l.subject, s.module_id,
  s.axis_size, p.reserved_bytes, l.caveat
FROM laws AS l
JOIN slices AS s
  ON s.subject = l.subject
  AND s.color = l.color
  AND s.axis = l.axis
  AND s.other_axes IS NOT DISTINCT FROM l.other_axes
JOIN memory_profile AS p
  ON p.module_id = s.module_id
  AND p.color = s.color
ORDER BY l.program, l.color, l.subject, l.axis, l.other_axes, s.axis_size, s.module_id
