-- step: Arrays of these instructions with their sizes, tiles included, as
--   their shapes say.
-- grain: instruction, array
WITH arrays AS (
  SELECT
    e.*,
    unnest(regexp_extract_all(
      e.shape, '[a-z][a-z0-9]*\[[^\]]*\](\{[^}]*\})?'
    )) AS array_shape,
    unnest(range(len(regexp_extract_all(
      e.shape, '[a-z][a-z0-9]*\[[^\]]*\](\{[^}]*\})?'
    )))) AS place
  FROM entry_instructions AS e
  WHERE e.is_argument OR e.is_result OR (e.is_new AND e.is_scheduled)
),
read_arrays AS (
  SELECT
    *,
    regexp_extract(array_shape, '^[a-z][a-z0-9]*') AS element_type,
    CASE
      WHEN regexp_extract(array_shape, '\[([^\]]*)\]', 1) = '' THEN []
      ELSE list_transform(
        string_split(replace(
          regexp_extract(array_shape, '\[([^\]]*)\]', 1), '<=', ''
        ), ','), lambda x: TRY_CAST(x AS HUGEINT)
      )
    END AS sizes,
    CASE
      WHEN regexp_extract(array_shape, '\]\{([0-9,]*)', 1) = '' THEN []
      ELSE list_transform(
        string_split(regexp_extract(array_shape, '\]\{([0-9,]*)', 1), ','),
        lambda x: TRY_CAST(x AS INTEGER)
      )
    END AS minor_order,
    list_reverse(list_transform(
      string_split(nullif(regexp_extract(
        array_shape, ':[^S]*?T\(([0-9,]*)\)', 1
      ), ''), ','), lambda x: TRY_CAST(x AS HUGEINT)
    )) AS tile_sizes,
    coalesce(TRY_CAST(nullif(
      regexp_extract(array_shape, 'S\((\d+)\)', 1), ''
    ) AS INTEGER), 0) AS array_color,
    TRY_CAST(nullif(regexp_extract(array_shape, 'E\((\d+)\)', 1), '')
      AS INTEGER) AS packed_bits
  FROM arrays
),
ordered_arrays AS (
  SELECT
    *,
    CASE
      WHEN len(minor_order) = len(sizes)
      THEN list_transform(minor_order, lambda p: sizes[p + 1])
      ELSE list_reverse(sizes)
    END AS minor_sizes,
    CASE
      WHEN packed_bits IS NOT NULL THEN packed_bits
      WHEN element_type IN ('token', 'opaque') THEN 0
      ELSE greatest(8, coalesce(TRY_CAST(nullif(
        regexp_extract(element_type, '^[a-z]+(\d+)', 1), ''
      ) AS INTEGER), 8))
    END AS bits
  FROM read_arrays
)
SELECT
  module_id, instruction_id, shape, parameter_number, is_result,
  is_argument, is_new, is_scheduled, place, array_color,
  (CAST(bits AS HUGEINT) * list_reduce(
    list_transform(
      range(1, greatest(
        len(minor_sizes), coalesce(len(tile_sizes), 0)
      ) + 1),
      lambda p: CASE
        WHEN p <= coalesce(len(tile_sizes), 0)
        THEN (coalesce(minor_sizes[p], 1) + tile_sizes[p] - 1)
          // tile_sizes[p] * tile_sizes[p]
        ELSE minor_sizes[p]
      END
    ),
    lambda x, y: x * y, CAST(1 AS HUGEINT)
  ) + 7) // 8 AS array_bytes
FROM ordered_arrays
WHERE len(list_filter(sizes, lambda x: x IS NULL)) = 0
