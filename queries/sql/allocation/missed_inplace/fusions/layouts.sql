-- step: Sizes, tiles and order of dimensions of each shape. Without tiles, a
--   dimension of size 1 may be anywhere in the layout.
-- grain: shape
SELECT
  shape, tile, sizes,
  list_filter(
    minor_to_major, lambda x: tile <> '' OR sizes[x + 1] <> '1'
  ) AS places,
  minor_to_major = list_reverse(range(len(sizes))) AS is_row_major
FROM (
  SELECT
    shape,
    string_split(regexp_extract(shape, '\[([^\]]*)\]', 1), ',') AS sizes,
    list_transform(
      regexp_extract_all(
        regexp_extract(shape, '\]\{([0-9,]*)', 1), '[0-9]+'
      ), lambda x: CAST(x AS BIGINT)
    ) AS minor_to_major,
    regexp_extract(shape, ':[^S]*?T\(([0-9,*]*)\)', 1) AS tile
  FROM (
    SELECT shape FROM fused_instructions
    UNION
    SELECT shape FROM meeting_values
    UNION
    SELECT older_shape FROM meeting_values
  ) AS s
  WHERE shape NOT LIKE '(%'
) AS l
