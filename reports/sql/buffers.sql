-- What fills the memory of modules that are compared, one row per buffer.
--
-- $pairs, $modules and $partners lie side by side: module and partner of a pair. Rows
-- with is_counted fill the memory: whole allocations, except temporaries, of which the
-- values that live at the first step of the most live temporary bytes. The other rows
-- are values that a counted one of the partner may correspond to.
WITH sides AS (
  SELECT
    unnest(from_json($pairs, '["BIGINT"]')) AS pair,
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($partners, '["BIGINT"]')) AS partner_id,
    unnest(from_json($candidates, '["BOOLEAN"]')) AS is_candidate
),
wanted AS (
  SELECT DISTINCT module_id FROM sides
),
highest AS (
  SELECT
    t.module_id, t.color, t.from_step,
    rank() OVER (
      PARTITION BY t.module_id, t.color ORDER BY t.temp_live_bytes DESC, t.from_step
    ) AS place
  FROM memory_timeline AS t
  JOIN wanted USING (module_id)
),
-- Fixed before it is joined by number: else those of all modules are.
named AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.name, i.form_id
  FROM wanted
  JOIN store.instructions AS i USING (module_id)
),
described AS (
  SELECT
    a.module_id, a.allocation_id, a.color, a.kind, s.value_id, i.name AS instruction,
    f.opcode,
    nullif(regexp_replace(
      regexp_replace(f.op_name, '^(p?jit\([^/]*\)/)+', ''),
      '\[\w+=.*\]$', ''
    ), '') AS op_path,
    regexp_replace(v.shape, '\{[^}]*\}', '', 'g') AS array_type, v.shape_index,
    s.offset_bytes, s.size_bytes, v.logical_bytes, l.start_step, l.end_step,
    hash(coalesce(op_path, f.opcode), array_type) AS likeness,
    coalesce(
      a.kind = 'temp' AND h.from_step BETWEEN l.start_step AND l.end_step, FALSE
    ) AS is_counted
  FROM allocations AS a
  JOIN wanted USING (module_id)
  JOIN allocation_values AS s USING (module_id, allocation_id)
  JOIN store."values" AS v USING (module_id, value_id)
  LEFT JOIN named AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN store.live_ranges AS l
    ON l.module_id = s.module_id
    AND l.value_id = s.value_id
  LEFT JOIN highest AS h
    ON h.module_id = a.module_id
    AND h.color = a.color
    AND h.place = 1
),
principal AS (
  SELECT d.*
  FROM described AS d
  WHERE d.kind <> 'temp'
  QUALIFY row_number() OVER (
    PARTITION BY d.module_id, d.allocation_id
    ORDER BY
      d.kind = 'parameter' AND d.opcode = 'parameter' DESC, d.size_bytes DESC,
      d.start_step DESC, d.value_id DESC
  ) = 1
),
whole AS (
  SELECT
    a.module_id, a.allocation_id, a.color, a.kind, p.value_id, p.instruction, p.opcode,
    p.op_path,
    coalesce(
      p.array_type, regexp_replace(a.shape, '\{[^}]*\}', '', 'g')
    ) AS array_type,
    p.shape_index, 0 AS offset_bytes, a.size_bytes, p.logical_bytes, p.start_step,
    p.end_step, TRUE AS is_counted,
    a.parameter_number || coalesce(a.parameter_shape_index, '{}') AS parameter
  FROM allocations AS a
  JOIN wanted USING (module_id)
  LEFT JOIN principal AS p
    ON p.module_id = a.module_id
    AND p.allocation_id = a.allocation_id
  WHERE a.kind <> 'temp'
),
placed AS (
  SELECT d.*, NULL AS parameter
  FROM described AS d
  ANTI JOIN principal AS p
    ON p.module_id = d.module_id
    AND p.value_id = d.value_id
    AND p.allocation_id = d.allocation_id
  WHERE d.kind <> 'thread_local'
),
looked_for AS (
  SELECT DISTINCT s.pair, s.is_candidate, d.likeness
  FROM sides AS s
  JOIN (
    SELECT module_id, likeness FROM described WHERE is_counted
    UNION ALL
    SELECT module_id, likeness FROM principal
  ) AS d ON d.module_id = s.partner_id
)
SELECT
  s.pair, s.is_candidate, b.color, b.kind, b.allocation_id, b.value_id,
  b.instruction, b.opcode, b.op_path, b.array_type, b.shape_index, b.parameter,
  b.offset_bytes, b.size_bytes, b.logical_bytes, b.start_step, b.end_step,
  b.is_counted
FROM sides AS s
JOIN placed AS b USING (module_id)
WHERE b.is_counted
  OR (s.pair, s.is_candidate, b.likeness) IN (
    SELECT (pair, is_candidate, likeness) FROM looked_for
  )
UNION ALL
SELECT
  s.pair, s.is_candidate, w.color, w.kind, w.allocation_id, w.value_id,
  w.instruction, w.opcode, w.op_path, w.array_type, w.shape_index, w.parameter,
  w.offset_bytes, w.size_bytes, w.logical_bytes, w.start_step, w.end_step,
  w.is_counted
FROM sides AS s
JOIN whole AS w USING (module_id)
