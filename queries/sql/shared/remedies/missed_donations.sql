-- title: Donations that are missed
-- question: Which inputs could be donated to which results?
-- definition: An output array without an alias, in an allocation of its own,
--   and a parameter of the same shape that is neither donated nor live-out;
--   the n-th such output of a shape is paired with the n-th such parameter.
-- grain: module content, pair
-- param run
-- param program
-- column module_id
-- column color
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column parameter_index VARCHAR name neutral: Index into that parameter.
-- column parameter_id INTEGER id neutral: allocation_id of the parameter.
-- column output_index VARCHAR name neutral: Index into the result.
-- column output_id INTEGER id neutral: allocation_id of the result.
-- column size_bytes BIGINT bytes neutral: Size of either allocation.
-- column shape VARCHAR text neutral: Shape of the parameter.
WITH chosen AS MATERIALIZED (
  SELECT DISTINCT module_id
  FROM selected_modules()
),
-- Fixed before it is joined by number: else a table is made of all values.
shapes AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id,
    regexp_replace(v.shape, '\{[^}]*\}', '', 'g') AS shape
  FROM chosen
  JOIN store."values" AS v USING (module_id)
),
parameters AS (
  SELECT
    a.module_id, a.allocation_id, a.parameter_number,
    coalesce(a.parameter_shape_index, '{}') AS parameter_index, a.size_bytes,
    a.color AS space_color, a.is_live_out, a.shape
  FROM allocations AS a
  JOIN chosen AS c USING (module_id)
  WHERE a.parameter_number IS NOT NULL
),
outputs AS (
  SELECT * FROM result_places()
),
free_parameters AS (
  SELECT
    p.*,
    row_number() OVER (
      PARTITION BY p.module_id, p.shape, p.size_bytes, p.space_color
      ORDER BY
        p.parameter_number,
        list_transform(
          regexp_extract_all(p.parameter_index, '[0-9]+'),
          lambda x: CAST(x AS INTEGER)
        )
    ) AS ordinal
  FROM parameters AS p
  ANTI JOIN aliases AS a
    ON a.module_id = p.module_id
    AND a.parameter_number = p.parameter_number
    AND coalesce(a.parameter_index, '{}') = p.parameter_index
  WHERE NOT coalesce(p.is_live_out, FALSE)
),
free_outputs AS (
  SELECT
    o.module_id, o.output_index, o.allocation_id, a.size_bytes,
    a.color AS space_color, v.shape,
    row_number() OVER (
      PARTITION BY o.module_id, v.shape, a.size_bytes, a.color
      ORDER BY list_transform(
        regexp_extract_all(o.output_index, '[0-9]+'),
        lambda x: CAST(x AS INTEGER)
      )
    ) AS ordinal
  FROM outputs AS o
  JOIN allocations AS a
    ON a.module_id = o.module_id
    AND a.allocation_id = o.allocation_id
  JOIN shapes AS v
    ON v.module_id = o.module_id
    AND v.value_id = o.value_id
  ANTI JOIN aliases AS d
    ON d.module_id = o.module_id
    AND d.output_index = o.output_index
  WHERE a.kind = 'live_out'
)
SELECT
  p.module_id, p.space_color AS color, p.parameter_number, p.parameter_index,
  p.allocation_id AS parameter_id, o.output_index,
  o.allocation_id AS output_id, p.size_bytes, p.shape
FROM free_parameters AS p
JOIN free_outputs AS o
  USING (module_id, shape, size_bytes, space_color, ordinal)
