-- step: Results that are an argument with little behind it, as a cache to
--   which each step adds one position: no memory of an argument fits them.
--   instruction_id: what concatenates.
-- grain: value
WITH sized AS MATERIALIZED (
  SELECT
    r.module_id, r.value_id, r.element_type, r.dimensions,
    list_transform(
      string_split(r.dimensions, ','), lambda x: CAST(x AS BIGINT)
    ) AS sizes
  FROM returned_arrays AS r
  WHERE r.dimensions LIKE '%,%'
),
given AS MATERIALIZED (
  SELECT DISTINCT
    a.module_id, a.element_type,
    list_transform(
      string_split(a.dimensions, ','), lambda x: CAST(x AS BIGINT)
    ) AS sizes
  FROM arguments AS a
  WHERE a.dimensions LIKE '%,%'
),
joined AS MATERIALIZED (
  SELECT
    i.module_id, regexp_extract(i.shape, '^\w+\[([\d,]*)', 1) AS dimensions,
    min(i.instruction_id) AS instruction_id
  FROM scheduled_instructions AS i
  WHERE i.op_name LIKE '%/concatenate'
  GROUP BY ALL
)
SELECT DISTINCT
  s.module_id, s.value_id, j.instruction_id,
  s.element_type || '[' || s.dimensions || ']' AS likeness
FROM sized AS s
JOIN given AS g
  ON g.module_id = s.module_id
  AND g.element_type = s.element_type
  AND len(g.sizes) = len(s.sizes)
JOIN joined AS j
  ON j.module_id = s.module_id
  AND j.dimensions = s.dimensions
ANTI JOIN argument_places AS p
  ON p.module_id = s.module_id
  AND p.dimensions = s.dimensions
WHERE len(list_filter(
    list_zip(g.sizes, s.sizes), lambda z: z[1] <> z[2]
  )) = 1
  AND list_product(g.sizes) < list_product(s.sizes)
  AND 8 * list_product(s.sizes) <= 9 * list_product(g.sizes)
