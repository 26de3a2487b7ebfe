-- step: Sizes and bytes, scaled to 0 to 1, lest powers of sizes and bytes
--   cancel one another out.
-- grain: law, module
WITH measured AS (
  SELECT
    s.subject, s.space_color, s.axis, s.other_axes,
    struct_pack(run_id := s.run_id, module_number := s.module_number)
      AS sighting,
    CAST(s.axis_size AS DOUBLE) AS size,
    unnest([
      'reserved', 'live_peak', 'parameter', 'constant', 'live_out', 'temp'
    ]) AS part,
    CAST(unnest([
      p.reserved_bytes, p.live_peak_bytes, p.parameter_bytes,
      p.constant_bytes, p.live_out_bytes, p.temp_bytes
    ]) AS DOUBLE) AS bytes
  FROM slices AS s
  JOIN memory_profile AS p
    ON p.module_id = s.module_id
    AND p.color = s.space_color
)
-- Of 0 to 1, lest powers of sizes and bytes cancel one another out.
SELECT
  *,
  dense_rank() OVER (
    ORDER BY subject, space_color, axis, other_axes, part
  ) AS law,
  size / max(size) OVER same_law AS x,
  bytes / nullif(max(bytes) OVER same_law, 0) AS y
FROM measured
WHERE bytes IS NOT NULL
WINDOW same_law AS (
  PARTITION BY subject, space_color, axis, other_axes, part
)
