-- title: Splits of every sharding
-- question: Into how many parts does each sharding split an array?
-- definition: Shardings of instructions, as printed, in the forms of all
--   releases. split is the number of parts of each dimension, with the copies
--   of each part: {devices=[2,1,2]<=[4] last_tile_dim_replicate} and
--   {mesh['a'=2,'b'=2], [{'a'}, {}]} are 2x1, 2 copies. shards is their
--   product without copies, 1 for replicated and maximal. Shardings that do
--   not describe data (manual, unknown) are left out.
-- grain: sharding
-- column sharding VARCHAR text neutral: Sharding as printed.
-- column split VARCHAR text neutral: Parts of each dimension; replicated, or
--   maximal for one device.
-- column shards BIGINT count neutral: Number of parts that the data is split
--   into.
WITH printed AS (
  SELECT
    sharding,
    regexp_extract(
      sharding, '^\{(?:mesh\[[^\]]*\], )?(replicated|maximal)[^=]', 1
    ) AS whole,
    regexp_extract(sharding, 'devices=\[([0-9,]+)\]', 1) AS tile_text,
    CASE WHEN sharding LIKE '%last_tile_dim_replicate%' THEN 1 ELSE
      len(regexp_extract_all(
        regexp_extract(sharding, 'last_tile_dims=\{([^}]*)\}', 1), '[^, ]+'
      ))
    END AS last_tiles,
    regexp_extract(sharding, '^\{mesh\[([^\]]*)\]', 1) AS mesh,
    regexp_extract(sharding, '^\{mesh\[[^\]]*\].*? \[(\{.*\})\]', 1)
      AS axis_text
  FROM (
    SELECT DISTINCT sharding
    FROM store.instruction_forms
    WHERE sharding IS NOT NULL
  )
),
-- Tiles of devices; the last of them may hold copies.
tiles AS (
  SELECT
    sharding, whole, mesh, axis_text, last_tiles,
    CAST(string_split(tile_text, ',') AS DOUBLE[]) AS sizes
  FROM printed
  WHERE tile_text <> ''
),
-- Axes of a mesh; 'b':(1)2 is a part of one.
axes AS (
  SELECT
    sharding, mesh,
    list_transform(
      regexp_extract_all(axis_text, '\{[^{}]*\}'),
      lambda dimension: list_product(list_transform(
        regexp_extract_all(dimension, '''[^'']+''(:\([0-9]+\)[0-9]+)?'),
        lambda axis: TRY_CAST(CASE
          WHEN axis LIKE '%:(%' THEN regexp_extract(axis, '\)([0-9]+)$', 1)
          ELSE regexp_extract(mesh, regexp_escape(axis) || '=([0-9]+)', 1)
        END AS DOUBLE)
      ))
    ) AS parts,
    list_product(CAST(regexp_extract_all(mesh, '=([0-9]+)', 1) AS DOUBLE[]))
      AS devices
  FROM printed
  WHERE mesh <> ''
    AND whole = ''
),
counted AS (
  SELECT sharding, [] AS parts, 1 AS copies, whole
  FROM printed
  WHERE whole <> ''
  UNION ALL
  SELECT
    sharding, sizes[:len(sizes) - last_tiles],
    list_product(sizes[len(sizes) - last_tiles + 1:]), NULL
  FROM tiles
  UNION ALL
  SELECT
    sharding, list_transform(parts, lambda part: coalesce(part, 1)),
    devices / coalesce(list_product(parts), 1), NULL
  FROM axes
)
SELECT
  sharding,
  coalesce(whole, concat(
    array_to_string(
      list_transform(parts, lambda part: TRY_CAST(part AS BIGINT)), 'x'
    ),
    CASE
      WHEN copies > 1
      THEN concat(', ', TRY_CAST(copies AS BIGINT), ' copies')
    END
  )) AS split,
  TRY_CAST(coalesce(list_product(parts), 1) AS BIGINT) AS shards
FROM counted
