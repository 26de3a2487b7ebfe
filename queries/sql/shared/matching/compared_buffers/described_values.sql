-- step: Their values with place, path and live range. A name that XLA gave
--   (broadcast.150) is no path: each compilation numbers anew. is_live: at the
--   step at which most temporary memory is live.
-- grain: value in an allocation
WITH highest AS (
  SELECT
    t.module_id, t.color AS space_color,
    arg_max(t.from_step, (t.temp_live_bytes, -t.from_step)) AS step
  FROM memory_timeline AS t
  JOIN asked_contents USING (module_id)
  GROUP BY t.module_id, t.color
),
named AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name, i.form_id,
    coalesce(c.kind = 'entry', FALSE) AS is_entry
  FROM asked_contents
  JOIN store.instructions AS i USING (module_id)
  LEFT JOIN computations AS c USING (module_id, computation_id)
),
placed AS MATERIALIZED (
  SELECT
    a.module_id, a.allocation_id, a.color AS space_color, a.kind, s.value_id,
    s.offset_bytes, s.size_bytes
  FROM asked_contents
  JOIN allocations AS a USING (module_id)
  JOIN allocation_values AS s USING (module_id, allocation_id)
),
defined AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.instruction_id, v.shape, v.shape_index,
    v.logical_bytes
  FROM asked_contents
  JOIN store."values" AS v USING (module_id)
),
lives AS MATERIALIZED (
  SELECT l.module_id, l.value_id, l.start_step, l.end_step
  FROM asked_contents
  JOIN store.live_ranges AS l USING (module_id)
)
SELECT
  d.*, hash(coalesce(d.op_path, d.opcode), d.array_type) AS likeness,
  coalesce(
    d.kind = 'temp' AND h.step BETWEEN d.start_step AND d.end_step, FALSE
  ) AS is_live
FROM (
  SELECT
    a.module_id, a.allocation_id, a.space_color, a.kind, a.value_id,
    i.name AS instruction, f.opcode, i.is_entry,
    CASE
      WHEN f.opcode = 'parameter'
        OR NOT regexp_full_match(f.op_name, '[a-z][\w-]*\.\d+')
        THEN nullif(regexp_replace(
          regexp_replace(f.op_name, '^(p?jit\([^/]*\)/)+', ''),
          '\[\w+=.*\]$', ''
        ), '')
    END AS op_path,
    regexp_replace(v.shape, '\{[^}]*\}', '', 'g') AS array_type,
    v.shape_index, a.offset_bytes, a.size_bytes, v.logical_bytes,
    l.start_step, l.end_step
  FROM placed AS a
  JOIN defined AS v USING (module_id, value_id)
  LEFT JOIN named AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN lives AS l
    ON l.module_id = a.module_id
    AND l.value_id = a.value_id
) AS d
LEFT JOIN highest AS h
  ON h.module_id = d.module_id
  AND h.space_color = d.space_color
