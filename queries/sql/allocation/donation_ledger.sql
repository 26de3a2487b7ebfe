-- title: Donated inputs
-- question: Which donated inputs are updated in place, and where was a
--   donation missed?
-- definition: One row per alias of an output with a parameter: realised if the
--   output's value lies in the parameter's allocation, else declared_only. A
--   donated parameter without an output (donor) is realised if its allocation
--   is live-out. missed: a pair of missed_donations.
-- grain: module occurrence, alias or pair
-- leading: program, status, parameter_number, op_name, output_index,
--   donated_bytes, shape, reason
-- split: programs
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
    d.module_id, 'missed', d.parameter_number, d.parameter_index,
    d.output_index, NULL, d.size_bytes, d.color, d.shape,
    'an output of the same shape has memory of its own'
  FROM missed_donations() AS d
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
