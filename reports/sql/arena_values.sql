-- The values of arenas that are compared, one row each, as the rows of `buffers`.
--
-- $pairs, $modules, $allocations and $candidates lie side by side. Rows with
-- is_counted are the $most values of an arena that take up most bytes x steps. The
-- other rows are values that a counted one of the other side may correspond to.
WITH sides AS (
  SELECT
    unnest(from_json($pairs, '["BIGINT"]')) AS pair,
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($allocations, '["INTEGER"]')) AS allocation_id,
    unnest(from_json($candidates, '["BOOLEAN"]')) AS is_candidate
),
-- Fixed before it is joined by number: else those of all modules are.
named AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.name, i.form_id
  FROM (SELECT DISTINCT module_id FROM sides) AS s
  JOIN store.instructions AS i USING (module_id)
),
described AS (
  SELECT
    s.pair, s.is_candidate, a.color, a.kind, a.allocation_id, p.value_id,
    i.name AS instruction, f.opcode,
    nullif(regexp_replace(
      regexp_replace(f.op_name, '^(p?jit\([^/]*\)/)+', ''),
      '\[\w+=.*\]$', ''
    ), '') AS op_path,
    regexp_replace(v.shape, '\{[^}]*\}', '', 'g') AS array_type, v.shape_index,
    p.offset_bytes, p.size_bytes, v.logical_bytes, l.start_step, l.end_step,
    hash(coalesce(op_path, f.opcode), array_type) AS likeness,
    row_number() OVER (
      PARTITION BY s.pair, s.is_candidate
      ORDER BY
        CAST(p.size_bytes AS HUGEINT) * (l.end_step - l.start_step + 1) DESC,
        l.start_step, p.offset_bytes, p.value_id
    ) <= $most AS is_counted
  FROM sides AS s
  JOIN allocations AS a USING (module_id, allocation_id)
  JOIN allocation_values AS p USING (module_id, allocation_id)
  JOIN store.live_ranges AS l
    ON l.module_id = p.module_id
    AND l.value_id = p.value_id
  JOIN store."values" AS v
    ON v.module_id = p.module_id
    AND v.value_id = p.value_id
  LEFT JOIN named AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN store.instruction_forms AS f USING (form_id)
  WHERE p.size_bytes > 0
)
SELECT
  d.pair, d.is_candidate, d.color, d.kind, d.allocation_id, d.value_id,
  d.instruction, d.opcode, d.op_path, d.array_type, d.shape_index,
  NULL AS parameter, d.offset_bytes, d.size_bytes, d.logical_bytes, d.start_step,
  d.end_step, d.is_counted
FROM described AS d
WHERE d.is_counted
  OR (d.pair, d.is_candidate, d.likeness) IN (
    SELECT (pair, NOT is_candidate, likeness) FROM described WHERE is_counted
  )
