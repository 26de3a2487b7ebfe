-- title: Dimensions that do not fill their tile
-- question: Which dimension of which array has to change to avoid padding?
-- definition: Every dimension of a tiled array that is rounded up to its tile.
--   saved_bytes is the saving if the dimension were rounded down to a multiple
--   of its tile; nothing can be saved that way if it is smaller than the tile.
--   spare_bytes is the padding that the dimension causes.
-- grain: run, program, memory space, shape, dimension
-- leading: program, space_name, shape, dimension_size, tile_size, size_bytes,
--   saved_bytes, spare_ratio
-- param run
-- param program
-- param color
-- param min_ratio DOUBLE = 0.0 from 0 to 1: Only if at least this share of the
--   array is padding from this dimension.
-- param top
-- column run
-- column program
-- column color
-- column space_name
-- column shape VARCHAR text neutral: Shape with layout.
-- column dimension_size BIGINT count neutral: Size of the dimension.
-- column minor_place BIGINT id neutral: 0 for the most minor dimension, 1 for
--   the next.
-- column tile_size BIGINT count neutral: Tile: sizes are rounded up to a
--   multiple of it.
-- column smaller_size BIGINT count neutral: Size rounded down; NULL if that is
--   0.
-- column larger_size BIGINT count neutral: Size rounded up.
-- column value_count BIGINT count neutral: Values of that shape.
-- column size_bytes BIGINT bytes lower_is_better: Size in memory of one array.
-- column saved_bytes BIGINT bytes higher_is_better: Saving of one array at
--   smaller_size.
-- column spare_bytes BIGINT bytes lower_is_better: Padding of one array from
--   this dimension.
-- column spare_ratio DOUBLE ratio lower_is_better: Share of the array that is
--   this padding.
WITH shapes AS (
  SELECT
    *, string_split(minor_dimensions, ',') AS sizes,
    list_reverse(string_split(tile, ',')) AS tile_sizes
  FROM array_shapes()
  WHERE tile IS NOT NULL
    AND tile NOT LIKE '%*%'
    AND minor_dimensions <> ''
),
dimensions AS (
  SELECT
    s.shape, s.logical_bytes, s.tiled_bytes, p.place,
    TRY_CAST(s.sizes[p.place + 1] AS BIGINT) AS size,
    TRY_CAST(s.tile_sizes[p.place + 1] AS BIGINT) AS tile_size
  FROM shapes AS s
  JOIN (SELECT unnest(range(0, 6)) AS place) AS p
    ON p.place < least(len(s.sizes), len(s.tile_sizes))
),
misfits AS (
  SELECT
    *, size // tile_size * tile_size AS smaller,
    (size + tile_size - 1) // tile_size * tile_size AS larger
  FROM dimensions
  WHERE size % tile_size <> 0
),
used AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.color AS space_color,
    m.space_name, v.shape, v.logical_bytes, count(*) AS value_count
  FROM selected_memory() AS m
  JOIN value_places() AS v
    USING (module_id, color)
  GROUP BY ALL
)
SELECT
  u.run_name AS run, u.program_name AS program, u.space_color AS color,
  u.space_name, u.shape, d.size AS dimension_size, d.place AS minor_place,
  d.tile_size,
  nullif(d.smaller, 0) AS smaller_size, d.larger AS larger_size, u.value_count,
  d.tiled_bytes AS size_bytes,
  CASE
    WHEN d.smaller = 0 THEN 0
    ELSE d.tiled_bytes - d.tiled_bytes // d.larger * d.smaller
  END AS saved_bytes,
  d.tiled_bytes // d.larger * (d.larger - d.size) AS spare_bytes,
  (d.larger - d.size) / d.larger AS spare_ratio
FROM used AS u
JOIN misfits AS d
  ON d.shape = u.shape
  AND d.logical_bytes = u.logical_bytes
WHERE (d.larger - d.size) / d.larger >= $min_ratio
ORDER BY
  CAST(spare_bytes AS HUGEINT) * u.value_count DESC, u.program_name,
  u.space_color, u.shape, d.place
LIMIT $top
