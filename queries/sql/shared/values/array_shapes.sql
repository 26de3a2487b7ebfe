-- title: Dimensions, tiles and padding of arrays
-- question: What are the dimensions, tiles and padded sizes of the arrays in
--   memory?
-- definition: Every distinct array shape among the placed values of the
--   selected modules. tiled_bytes rounds the j-th most minor dimension up to
--   the j-th last number of the first tile (a missing dimension counts as 1),
--   multiplies all dimensions and the element width, that of elements of less
--   than a byte as the layout says it, E(bits); without a tile it is
--   logical_bytes. Sub-tiles add nothing. NULL where a tile combines
--   dimensions (*).
-- grain: shape
-- param run
-- param program
-- column shape
-- column element_type VARCHAR name neutral: Element type.
-- column dimensions VARCHAR text neutral: Dimensions as printed, most major
--   first.
-- column minor_dimensions VARCHAR text neutral: Dimensions, most minor first.
-- column tile VARCHAR text neutral: First tile as printed; NULL without tiles.
-- column logical_bytes
-- column tiled_bytes BIGINT bytes lower_is_better: Size with dimensions
--   rounded up.
WITH arrays AS (
  SELECT DISTINCT
    shape, logical_bytes,
    regexp_extract(shape, '^([a-z][a-z0-9]*)\[', 1) AS element_type,
    replace(regexp_extract(shape, '^[a-z0-9]+\[([^\]]*)\]', 1), '<=', '')
      AS dimensions,
    regexp_extract(shape, '\]\{([0-9,]*)', 1) AS minor_to_major,
    nullif(regexp_extract(shape, ':[^S]*?T\(([0-9,*]*)\)', 1), '') AS tile,
    TRY_CAST(regexp_extract(shape, '[^A-Z]E\(([0-9]+)\)', 1) AS INTEGER)
      AS packed_bits
  FROM value_places()
  WHERE shape NOT LIKE '(%'
    AND logical_bytes IS NOT NULL
),
listed AS (
  SELECT
    *,
    CASE WHEN dimensions = '' THEN []
      ELSE list_transform(
        string_split(dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
      ) END AS sizes,
    CASE WHEN minor_to_major = '' THEN []
      ELSE list_transform(
        string_split(minor_to_major, ','), lambda x: CAST(x AS INTEGER)
      ) END AS minor_order,
    list_reverse(list_transform(
      string_split(tile, ','), lambda x: TRY_CAST(x AS BIGINT)
    )) AS tile_sizes
  FROM arrays
),
ordered AS (
  SELECT
    *,
    CASE
      WHEN minor_to_major = '' THEN list_reverse(sizes)
      ELSE list_transform(minor_order, lambda place: sizes[place + 1])
    END AS minor_sizes
  FROM listed
),
rounded AS (
  SELECT
    *,
    list_reduce(
      list_transform(
        range(1, greatest(len(minor_sizes), len(tile_sizes)) + 1),
        lambda place: CASE
          WHEN place <= len(tile_sizes)
          THEN (coalesce(minor_sizes[place], 1) + tile_sizes[place] - 1)
            // tile_sizes[place] * tile_sizes[place]
          ELSE minor_sizes[place]
        END
      ),
      lambda x, y: x * y, CAST(1 AS HUGEINT)
    ) AS padded_elements,
    list_reduce(
      minor_sizes, lambda x, y: x * y, CAST(1 AS HUGEINT)
    ) AS elements
  FROM ordered
)
SELECT
  shape, element_type, dimensions,
  array_to_string(minor_sizes, ',') AS minor_dimensions,
  tile, logical_bytes,
  CAST(CASE
    WHEN tile IS NULL OR elements = 0 THEN logical_bytes
    WHEN packed_bits > 0 THEN (padded_elements * packed_bits + 7) // 8
    ELSE padded_elements * (logical_bytes // elements)
  END AS BIGINT) AS tiled_bytes
FROM rounded
