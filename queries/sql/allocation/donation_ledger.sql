-- title: Donated inputs
-- question: Which donated inputs are updated in place, and where was a
--   donation missed?
-- definition: One row per alias of an output with a parameter: realised if the
--   output's value lies in the parameter's allocation, else declared_only. A
--   donated parameter without an output (donor) is realised if its allocation
--   is live-out. missed: an output array without an alias, in an allocation of
--   its own, and a parameter of the same shape that is neither donated nor
--   live-out; the n-th such output of a shape is paired with the n-th such
--   parameter.
-- grain: module occurrence, alias or pair
-- leading: program, status, parameter_number, op_name, output_index,
--   donated_bytes, shape, reason
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column module_id
-- column status VARCHAR name neutral: realised, declared_only or missed.
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column parameter_index VARCHAR name neutral: Index into that parameter.
-- column op_name VARCHAR name neutral: Framework path of the parameter: the
--   argument, such as params[2], in dumps of JAX since 2024.
-- column output_index VARCHAR name neutral: Index into the result; NULL for a
--   donor.
-- column alias_kind VARCHAR name neutral: may-alias, must-alias or donor; NULL
--   if missed.
-- column donated_bytes BIGINT bytes neutral: Size of the parameter's
--   allocation: saved if realised, lost if not.
-- column color
-- column space_name
-- column shape VARCHAR text neutral: Shape of the parameter.
-- column reason VARCHAR text neutral: Why the donation is not realised.
-- column source_file
-- column source_line
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
declared AS (
  SELECT
    a.module_id, a.kind AS alias_kind, a.parameter_number, a.parameter_index,
    a.output_index, p.size_bytes, p.space_color, p.shape,
    CASE
      WHEN a.kind = 'donor' THEN p.is_live_out
      ELSE o.allocation_id = p.allocation_id
    END AS is_realised,
    p.allocation_id IS NULL AS has_no_parameter,
    o.allocation_id IS NULL AS has_no_output
  FROM aliases AS a
  JOIN chosen USING (module_id)
  LEFT JOIN parameters AS p
    ON p.module_id = a.module_id
    AND p.parameter_number = a.parameter_number
    AND p.parameter_index = coalesce(a.parameter_index, '{}')
  LEFT JOIN outputs AS o
    ON o.module_id = a.module_id
    AND o.output_index = a.output_index
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
    AND p.size_bytes > 0
),
free_outputs AS (
  SELECT
    o.module_id, o.output_index, a.size_bytes, a.color AS space_color,
    v.shape,
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
),
entries AS (
  SELECT
    module_id, CASE WHEN is_realised THEN 'realised' ELSE 'declared_only' END
      AS status,
    parameter_number, parameter_index, output_index, alias_kind, size_bytes,
    space_color, shape,
    CASE
      WHEN is_realised THEN NULL
      WHEN has_no_parameter THEN 'the parameter has no allocation of its own'
      WHEN alias_kind = 'donor' THEN 'no output took its allocation'
      WHEN has_no_output THEN 'the output has no value of its own'
      ELSE 'the output lies in another allocation'
    END AS reason
  FROM declared
  UNION ALL
  SELECT
    p.module_id, 'missed', p.parameter_number, p.parameter_index,
    o.output_index, NULL, p.size_bytes, p.space_color, p.shape,
    'an output of the same shape has memory of its own'
  FROM free_parameters AS p
  JOIN free_outputs AS o
    USING (module_id, shape, size_bytes, space_color, ordinal)
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.module_id, e.status,
  e.parameter_number, e.parameter_index, n.op_name, e.output_index,
  e.alias_kind, e.size_bytes AS donated_bytes, e.space_color AS color,
  coalesce(c.space_name, 'color_' || e.space_color) AS space_name, e.shape,
  e.reason, s.source_file, s.source_line
FROM selected_modules() AS m
JOIN entries AS e USING (module_id)
LEFT JOIN entry_parameters() AS n
  ON n.module_id = e.module_id
  AND n.parameter_number = e.parameter_number
LEFT JOIN instruction_sources() AS s
  ON s.module_id = m.module_id
  AND s.locations_id = m.locations_id
  AND s.instruction_id = n.instruction_id
LEFT JOIN memory_spaces AS c
  ON c.platform = m.platform
  AND c.color = e.space_color
ORDER BY
  e.status, e.size_bytes DESC NULLS LAST, m.program, m.module_number, m.rank,
  e.parameter_number, e.parameter_index, e.output_index
