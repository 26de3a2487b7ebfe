-- step: Arrays of such a form, slices that hold a part of the iterations, and
--   what is computed of these arrays outside of loops with a part for each
--   iteration as well, but for what has less than an eighth of the size: a
--   loop can stack that.
-- grain: program, form, value
WITH RECURSIVE whole_members AS MATERIALIZED (
  SELECT f.*, v.value_id, v.kind
  FROM history_forms AS f
  JOIN arrays AS v USING (module_id, dimensions, element_type)
),
form_members AS MATERIALIZED (
  SELECT m.* FROM whole_members AS m
  UNION
  SELECT m.* REPLACE (v.value_id AS value_id, v.kind AS kind)
  FROM whole_members AS m
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
    AND v.element_type = m.element_type
    AND v.dimensions <> m.dimensions
    AND substr(v.dimensions, strpos(v.dimensions, ','))
      = substr(m.dimensions, strpos(m.dimensions, ','))
  WHERE v.instruction LIKE '%slice%'
    AND v.instruction NOT LIKE '%dynamic%'
),
-- Of dimensions 252,64,3 a first one of 252, of 16,128 or of 48,384.
first_sizes AS MATERIALIZED (
  SELECT
    f.module_id, f.dimensions, f.element_type, f.size_bytes,
    list_transform(range(1, len(f.sizes) + 1), lambda n: CAST(
      list_product(f.sizes[:n]) AS BIGINT
    )) AS sizes
  FROM (
    SELECT
      module_id, dimensions, element_type, size_bytes,
      CAST(string_split(dimensions, ',') AS DOUBLE[]) AS sizes
    FROM history_forms
    WHERE regexp_full_match(dimensions, '[0-9,]+')
  ) AS f
  WHERE f.sizes[1] >= 8
),
members AS MATERIALIZED (
  SELECT m.* FROM form_members AS m
  UNION
  SELECT m.* REPLACE (v.value_id AS value_id, 'temp' AS kind)
  FROM members AS m
  JOIN first_sizes AS f USING (module_id, dimensions, element_type)
  JOIN store.value_uses AS u
    ON u.module_id = m.module_id
    AND u.value_id = m.value_id
  JOIN row_wise_arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
    AND list_contains(
      f.sizes, TRY_CAST(split_part(v.dimensions, ',', 1) AS BIGINT)
    )
    AND 8 * v.size_bytes > f.size_bytes
)
SELECT * FROM members
