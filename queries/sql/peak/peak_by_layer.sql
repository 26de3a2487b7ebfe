-- title: Peak memory by layer
-- question: Which layers of the model hold the peak?
-- definition: owned_bytes of peak_values by layer: that of the defining
--   instruction, also where only the arguments name layers
--   (instruction_layers). Memory of an argument that no such value is in goes
--   to the argument's layer; what has no layer so far to that of the
--   instruction that value_sources names. A loop over layers holds all of them
--   at once: its values have no layer, like others outside of all layers and
--   values that instructions of several layers made, and are in the row
--   (no layer). So owned_bytes of a module and memory space add
--   up to live_peak_bytes.
-- grain: module occurrence, memory space, layer
-- leading: program, space_name, layer, owned_bytes, peak_ratio, value_count,
--   largest_instruction
-- split: programs
-- param run
-- param program
-- param color
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column layer VARCHAR name neutral: Name and number, such as block_3; (no
--   layer) for all without.
-- column layer_name VARCHAR name neutral: Name that the layers have in common.
-- column layer_number BIGINT id neutral: Number in the path.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column value_count BIGINT count neutral: Values that own bytes of the peak.
-- column largest_instruction VARCHAR name neutral: Instruction that owns the
--   most bytes.
-- column path
WITH chosen AS MATERIALIZED (
  SELECT * FROM selected_memory()
),
held_ids AS MATERIALIZED (
  SELECT DISTINCT v.module_id, v.instruction_id
  FROM peak_values() AS v
  WHERE v.instruction_id IS NOT NULL
),
names AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.name, f.op_name
  FROM held_ids
  JOIN store.instructions AS i USING (module_id, instruction_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
arguments AS (
  SELECT a.module_id, a.allocation_id, max(n.op_name) AS op_name
  FROM (SELECT DISTINCT module_id FROM chosen) AS m
  JOIN allocations AS a USING (module_id)
  JOIN entry_parameters() AS n
    ON n.module_id = a.module_id
    AND n.parameter_number = a.parameter_number
  GROUP BY a.module_id, a.allocation_id
),
held AS MATERIALIZED (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, m.occurrence, m.path,
    m.live_peak_bytes, m.module_id, v.instruction_id, v.value_id,
    coalesce(
      TRY_CAST(regexp_extract(v.shape_index, '^\{([0-9]+)', 1) AS INTEGER), -1
    ) AS element,
    v.owned_bytes, i.name AS instruction,
    i.op_name AS own_name, a.op_name AS argument_name, s.op_name AS source_name
  FROM chosen AS m
  JOIN peak_values() AS v USING (module_id, color)
  LEFT JOIN names AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN arguments AS a
    ON a.module_id = v.module_id
    AND a.allocation_id = v.allocation_id
  LEFT JOIN value_sources() AS s
    ON s.module_id = m.module_id
    AND s.locations_id = m.locations_id
    AND s.value_id = v.value_id
),
paths AS (
  SELECT
    op_name, '/' || regexp_replace(op_name, '[\[\]()''"./]+', '/', 'g') AS path
  FROM (
    SELECT own_name AS op_name FROM held
    UNION
    SELECT argument_name FROM held
    UNION
    SELECT source_name FROM held
  )
  WHERE regexp_matches(op_name, '[0-9]')
),
named AS (
  SELECT
    p.op_name, p.path, r.pattern, r.place,
    regexp_extract(p.path, r.pattern, 1) AS name
  FROM paths AS p
  CROSS JOIN layer_rules() AS r
),
found AS MATERIALIZED (
  SELECT
    n.op_name,
    arg_min(
      {
        'name': n.name,
        'number': CAST(regexp_extract(n.path, n.pattern, 2) AS BIGINT)
      },
      n.place
    ) AS layer
  FROM named AS n
  WHERE n.name <> ''
  GROUP BY n.op_name
),
layered AS (
  SELECT
    h.*,
    CASE
      WHEN o.layer IS NOT NULL THEN o.layer
      WHEN i.layer_name IS NOT NULL
        THEN {'name': i.layer_name, 'number': i.layer_number}
      WHEN i.instruction_id IS NULL THEN coalesce(a.layer, s.layer)
    END AS found_layer
  FROM held AS h
  LEFT JOIN instruction_layers() AS i
    ON i.module_id = h.module_id
    AND i.instruction_id = h.instruction_id
    AND (i.element = -1 OR i.element = h.element)
  LEFT JOIN found AS o ON o.op_name = h.own_name
  LEFT JOIN found AS a ON a.op_name = h.argument_name
  LEFT JOIN found AS s ON s.op_name = h.source_name
)
SELECT
  v.run_name AS run, v.program_name AS program, v.module_number, v.rank,
  v.space_color AS color, v.space_name,
  coalesce(
    v.found_layer.name || '_' || v.found_layer.number, '(no layer)'
  ) AS layer,
  v.found_layer.name AS layer_name, v.found_layer.number AS layer_number,
  CAST(sum(v.owned_bytes) AS BIGINT) AS owned_bytes,
  sum(v.owned_bytes) / nullif(v.live_peak_bytes, 0) AS peak_ratio,
  count(*) FILTER (WHERE v.owned_bytes > 0) AS value_count,
  arg_max(v.instruction, (v.owned_bytes, -v.value_id)) AS largest_instruction,
  v.path
FROM layered AS v
GROUP BY
  v.run_name, v.program_name, v.module_number, v.rank, v.space_color,
  v.space_name, v.occurrence, v.path, v.live_peak_bytes, v.found_layer
ORDER BY
  v.live_peak_bytes DESC, v.program_name, v.module_number, v.rank,
  v.occurrence, v.space_color, owned_bytes DESC, layer_name, layer_number
