-- step: Arrays of two dimensions or more that are larger than their data, and
--   what of the tile the data fill. Where the compiler itself has put another
--   dimension than the last into the lanes, no edit of shapes is known. Where
--   such an array is a whole copy of an argument that takes less, subject
--   names both. is_packable: its rows are looked up, and several of them fill
--   the lanes of the tile. XLA cuts what convolutions read into other
--   dimensions, that divide none of the source: of those no edit is known,
--   either.
-- grain: value
WITH sides_of_sources AS MATERIALIZED (
  SELECT
    n.module_id, list_distinct(flatten(list(list_transform(
      string_split(regexp_extract(f.shape, '\[([\d,]+)', 1), ','),
      lambda x: TRY_CAST(x AS BIGINT)
    )))) AS sides
  FROM last_snapshots() AS n
  JOIN program_traits AS t
    ON t.module_id = n.module_id
    AND t.has_windows
  JOIN store.instructions AS i ON i.module_id = n.source_id
  JOIN store.instruction_forms AS f USING (form_id)
  GROUP BY n.module_id
),
padded AS MATERIALIZED (
  SELECT
    v.*, l.sides[l.minor[1] + 1] AS lane_count, l.tile[-1] AS lanes,
    l.sides[l.minor[2] + 1] AS row_count, l.tile[-2] AS sublanes,
    l.sides, l.minor[1] = len(l.sides) - 1 AS is_last
  FROM arrays AS v
  CROSS JOIN LATERAL (
    SELECT
      list_transform(
        string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
      ) AS sides,
      list_transform(
        string_split(regexp_extract(v.shape, '\]\{([0-9,]*)', 1), ','),
        lambda x: TRY_CAST(x AS BIGINT)
      ) AS minor,
      list_transform(
        string_split(regexp_extract(v.shape, ':T\(([0-9,]*)\)', 1), ','),
        lambda x: TRY_CAST(x AS BIGINT)
      ) AS tile
  ) AS l
  WHERE v.size_bytes > v.logical_bytes
    -- A scalar or a vector fills no tile, whatever its length.
    AND v.dimensions LIKE '%,%'
    AND v.shape LIKE '%:T(%'
),
filled AS (
  SELECT
    p.*,
    (p.lane_count + p.lanes - 1) // p.lanes * p.lanes AS padded_lanes,
    concat_ws(
      ', ',
      CASE WHEN p.lane_count % p.lanes > 0 THEN p.lane_count || ' of '
        || (p.lane_count + p.lanes - 1) // p.lanes * p.lanes || ' lanes' END,
      CASE WHEN p.row_count % p.sublanes > 0 THEN p.row_count || ' of '
        || (p.row_count + p.sublanes - 1) // p.sublanes * p.sublanes
        || ' sublanes' END
    ) AS fill
  FROM padded AS p
),
-- Several copies of an argument go with the same change.
copies AS (
  SELECT
    f.module_id, f.value_id, e.op_name AS argument, f.instruction,
    count(DISTINCT f.instruction) OVER same_argument AS copy_count,
    first_value(f.instruction) OVER same_argument AS first_copy
  FROM filled AS f
  JOIN copied_parameters() AS c
    ON c.module_id = f.module_id
    AND c.instruction_id = f.instruction_id
  JOIN entry_parameters() AS e
    ON e.module_id = c.module_id
    AND e.parameter_number = c.parameter_number
  JOIN arrays AS a
    ON a.module_id = e.module_id
    AND a.instruction_id = e.instruction_id
    AND a.kind = 'parameter'
    AND a.dimensions = f.dimensions
    AND a.element_type = f.element_type
    AND a.size_bytes < f.size_bytes
  WHERE f.kind = 'temp'
    AND f.color = a.color
  WINDOW same_argument AS (
    PARTITION BY f.module_id, f.color, e.parameter_number, f.shape
    ORDER BY f.size_bytes DESC, f.value_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  )
),
looked_up AS (
  SELECT DISTINCT u.module_id, u.value_id
  FROM copies AS c
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN scheduled_instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  WHERE regexp_matches(i.op_name, '(^|/)gather')
),
named AS (
  SELECT
    module_id, value_id, max(argument) AS argument,
    max(first_copy) AS first_copy, max(copy_count) AS copy_count
  FROM copies
  GROUP BY module_id, value_id
)
SELECT
  f.module_id, f.value_id, f.size_bytes - f.logical_bytes AS padding_bytes,
  f.size_bytes,
  CASE
    WHEN n.value_id IS NULL
      THEN 'all values of ' || f.shape
        || CASE WHEN f.fill = '' THEN '' ELSE ': ' || f.fill END
    ELSE CASE WHEN n.copy_count > 1 THEN 'copies of ' ELSE 'copy of ' END
      || n.argument || ' in another layout (' || n.first_copy
      || CASE WHEN n.copy_count > 1
        THEN ' and ' || n.copy_count - 1 || ' more' ELSE '' END
      || '): ' || f.fill || ', '
      || CASE WHEN n.copy_count > 1 THEN 'each ' ELSE '' END
      || array_to_string(list_transform(
        [f.size_bytes, f.logical_bytes],
        lambda x: CASE WHEN x < 1 << 30 THEN printf('%.2f MiB', x / (1 << 20))
          ELSE printf('%.2f GiB', x / (1 << 30)) END
      ), ' for ') || ' of data'
  END AS subject,
  coalesce(
    l.value_id IS NOT NULL
      AND len(f.sides) = 2
      AND f.is_last
      AND f.lane_count < f.lanes
      AND f.lanes % f.lane_count = 0
      AND f.sides[1] % (f.lanes // f.lane_count) = 0,
    FALSE
  ) AS is_packable
FROM filled AS f
LEFT JOIN named AS n
  ON n.module_id = f.module_id
  AND n.value_id = f.value_id
LEFT JOIN looked_up AS l
  ON l.module_id = f.module_id
  AND l.value_id = f.value_id
LEFT JOIN sides_of_sources AS s ON s.module_id = f.module_id
WHERE (f.is_last OR f.lane_count % f.lanes = 0 OR n.value_id IS NOT NULL)
  AND (
    s.module_id IS NULL
    OR len(list_filter(
      f.sides, lambda x: len(list_filter(s.sides, lambda y: y % x = 0)) = 0
    )) = 0
  )
