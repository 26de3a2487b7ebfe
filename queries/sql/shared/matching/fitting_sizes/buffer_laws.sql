-- step: How the dimensions of each value grow with the size, and the tile of
--   each: in proportion, as its square or cube, as patches of an image do, or
--   as these and one more (fixed_size), which classifies them.
-- grain: model, value, place
WITH listed AS (
  SELECT
    p.model, p.place, p.base_size, p.lesser_size, p.sizes,
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
),
-- Each dimension in both sizes.
paired_dimensions AS (
  SELECT
    d.model, d.place, d.dimension, d.tile, d.from_minor, d.base_size,
    d.lesser_size AS lesser_axis, d.greatest_size, coalesce(
      d.lesser_sizes[d.dimension], r.lesser_size, d.greatest_size
    ) AS lesser_size
  FROM placed AS d
  LEFT JOIN renamed_sizes AS r
    ON r.model = d.model
    AND r.greatest_size = d.greatest_size
    AND d.lesser_sizes IS NULL
  WHERE d.greatest_size IS NOT NULL
),
powers AS (
  SELECT
    b.*, list_filter(
      [
        {'power': 2, 'fixed_size': 0}, {'power': 3, 'fixed_size': 0},
        {'power': 2, 'fixed_size': 1}, {'power': 3, 'fixed_size': 1}
      ],
      lambda x: b.lesser_size <> b.greatest_size
        AND b.lesser_size > x.fixed_size
        AND abs(
          (b.greatest_size - x.fixed_size) / (b.lesser_size - x.fixed_size)
          / (b.base_size / b.lesser_axis) ** x.power - 1
        ) < 1e-9
    )[1] AS law
  FROM paired_dimensions AS b
)
SELECT
  model, place,
  list({
    greatest_size: CAST(greatest_size AS DOUBLE),
    slope: CASE WHEN law IS NULL
      THEN (greatest_size - lesser_size) / (base_size - lesser_axis)
      ELSE 0 END,
    power: coalesce(law.power, 0),
    fixed_size: coalesce(law.fixed_size, 0),
    tile: CAST(coalesce(CASE WHEN from_minor <= len(tile)
      THEN tile[len(tile) - from_minor + 1] END, 1) AS DOUBLE)
  }) AS dimensions
FROM powers
GROUP BY model, place
