-- What is live at the peak of the modules $modules, in parts: role, layer, source line,
-- shape.
-- Source lines are those of the locations $locations; both lie side by side. Arguments
-- have a name instead of a line.
WITH wanted AS (
  SELECT
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($locations, '["BIGINT"]')) AS locations_id
),
held AS (
  SELECT
    r.module_id, r.color, r.value_id, r.allocation_id, r.instruction_id, r.role,
    r.owned_bytes
  FROM peak_roles(
    module_ids := list_distinct(from_json($modules, '["BIGINT"]')),
    every_run := TRUE
  ) AS r
)
SELECT
  w.module_id, w.locations_id, h.color, h.role, l.layer_name, l.layer_number,
  s.source_file, s.source_line,
  a.kind, CASE WHEN f.opcode = 'parameter' THEN f.op_name END AS argument,
  v.shape, CAST(sum(h.owned_bytes) AS BIGINT) AS owned_bytes,
  count(*) AS value_count
FROM wanted AS w
JOIN held AS h USING (module_id)
LEFT JOIN "values" AS v
  ON v.module_id = h.module_id
  AND v.value_id = h.value_id
LEFT JOIN allocations AS a
  ON a.module_id = h.module_id
  AND a.allocation_id = h.allocation_id
LEFT JOIN store.instructions AS i
  ON i.module_id = h.module_id
  AND i.instruction_id = h.instruction_id
LEFT JOIN store.instruction_forms AS f USING (form_id)
LEFT JOIN instruction_layers(
  module_ids := list_distinct(from_json($modules, '["BIGINT"]')),
  every_run := TRUE
) AS l
  ON l.module_id = h.module_id
  AND l.instruction_id = h.instruction_id
  AND (
    l.element = -1
    OR l.element = coalesce(
      TRY_CAST(regexp_extract(v.shape_index, '^\{([0-9]+)', 1) AS INTEGER), -1
    )
  )
LEFT JOIN value_sources(
  module_ids := list_distinct(from_json($modules, '["BIGINT"]')),
  locations_ids := list_distinct(from_json($locations, '["BIGINT"]')),
  every_run := TRUE
) AS s
  ON s.module_id = w.module_id
  AND s.locations_id = w.locations_id
  AND s.value_id = h.value_id
GROUP BY ALL
ORDER BY ALL
