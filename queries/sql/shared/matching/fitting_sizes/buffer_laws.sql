-- step: How the dimensions of each value grow with the size, and the tile of
--   each.
-- grain: model, value, place
WITH listed AS (
  SELECT
    p.model, p.place, p.base_size - p.lesser_size AS distance, p.sizes,
    p.lesser_sizes, p.tile, p.minor_to_major,
    generate_subscripts(p.sizes, 1) AS dimension
  FROM paired_values AS p
),
placed AS (
  SELECT
    l.*, l.sizes[l.dimension] AS greatest_size,
    -- From the most minor one, to which the last number of a tile belongs.
    CASE WHEN l.minor_to_major IS NULL THEN len(l.sizes) - l.dimension + 1
      ELSE list_position(
        string_split(l.minor_to_major, ','),
        CAST(l.dimension - 1 AS VARCHAR)
      ) END AS from_minor
  FROM listed AS l
)
SELECT
  d.model, d.place,
  list({
    greatest_size: CAST(d.greatest_size AS DOUBLE),
    slope: (
      d.greatest_size - coalesce(
        d.lesser_sizes[d.dimension], r.lesser_size, d.greatest_size
      )
    ) / d.distance,
    tile: CAST(coalesce(CASE WHEN d.from_minor <= len(d.tile)
      THEN d.tile[len(d.tile) - d.from_minor + 1] END, 1) AS DOUBLE)
  }) AS dimensions
FROM placed AS d
LEFT JOIN renamed_sizes AS r
  ON r.model = d.model
  AND r.greatest_size = d.greatest_size
  AND d.lesser_sizes IS NULL
WHERE d.greatest_size IS NOT NULL
GROUP BY d.model, d.place
