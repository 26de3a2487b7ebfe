-- title: Source line of every value
-- question: Which source line and framework operation does each value belong
--   to?
-- definition: Source line and op_name of the defining instruction (attribution
--   defined). A temporary or live-out value without a line, or with the line
--   of a while of its module, as what a loop carries has, takes both from the
--   instruction that computed it (attribution stored), if there is one. It is
--   where array_flow, followed back, has no further edge. Of an array that
--   dynamic-update-slice writes into, only what is written is followed.
--   parameter, constant, iota and broadcast, and instructions without a line,
--   with one in a framework file or with that of a while, do not count. An
--   element of a collective that the compiler has made of several takes those
--   of its operand. Of several, those that an update stored come first, then
--   the one that comes first in the module. Of a tuple within a tuple, the
--   outer element is followed. A temporary value that has no line from either,
--   such as those that the compiler adds, takes both from its first scheduled
--   reader that has one, or else from readers of that reader's results, up to
--   four steps away (attribution read); the fewest steps come first, then the
--   schedule, where what is not scheduled comes last, then the order of the
--   module. A line in a framework file counts as a line, but is NULL here
--   (instruction_sources). Values without any line have no row.
-- grain: module content, source locations, value
-- param run
-- param program
-- param module_ids
-- param every_run
-- param locations_ids
-- param value_modules BIGINT[] = NULL: Modules of the values that are asked
--   for, side by side with value_ids; NULL: all values.
-- param value_ids BIGINT[] = NULL from 0: These values.
-- column module_id
-- column locations_id
-- column value_id
-- column attribution VARCHAR name neutral: defined: line of the definition;
--   stored: line of what computed the array; read: line of a reader.
-- column op_name
-- column source_file
-- column source_line
-- column function_name
WITH RECURSIVE sources AS MATERIALIZED (
  SELECT
    s.module_id, s.locations_id, s.instruction_id, s.source_file,
    s.source_line, s.function_name
  FROM instruction_sources() AS s
  WHERE s.source_file IS NOT NULL
    OR s.is_framework
),
tenants AS MATERIALIZED (
  SELECT DISTINCT
    m.module_id, m.locations_id, v.value_id, v.instruction_id, v.kind,
    s.instruction_id IS NOT NULL AS is_sourced, s.source_file, s.source_line,
    coalesce(
      TRY_CAST(regexp_extract(v.shape_index, '^\{([0-9]+)', 1) AS INTEGER), -1
    ) AS element
  FROM located_contents() AS m
  JOIN value_places() AS v USING (module_id)
  LEFT JOIN sources AS s
    ON s.module_id = m.module_id
    AND s.locations_id = m.locations_id
    AND s.instruction_id = v.instruction_id
  WHERE $value_ids IS NULL
    OR (m.module_id, v.value_id) IN (
      SELECT (a.module_id, a.value_id)
      FROM (
        SELECT
          unnest($value_modules) AS module_id, unnest($value_ids) AS value_id
      ) AS a
    )
),
described AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.schedule_step, f.opcode, f.op_name,
    f.opcode = 'fusion' AND f.fusion_kind = 'kCustom' AS is_library_kernel
  FROM (SELECT DISTINCT module_id FROM tenants) AS t
  JOIN store.instructions AS i USING (module_id)
  LEFT JOIN store.instruction_forms AS f USING (form_id)
),
flow AS MATERIALIZED (
  SELECT f.*, d.opcode = 'dynamic-update-slice' AS is_update
  FROM array_flow() AS f
  JOIN described AS d USING (module_id, instruction_id)
),
loop_lines AS MATERIALIZED (
  SELECT DISTINCT
    s.module_id, s.locations_id, s.source_file, s.source_line
  FROM sources AS s
  JOIN described AS d USING (module_id, instruction_id)
  WHERE d.opcode = 'while'
),
-- The compiler makes one of many, and keeps the line of one of them.
combined AS (
  SELECT t.module_id, t.locations_id, t.value_id, o.operand_id
  FROM tenants AS t
  JOIN described AS d USING (module_id, instruction_id)
  JOIN operands AS o
    ON o.module_id = t.module_id
    AND o.instruction_id = t.instruction_id
    AND o.operand_index = t.element
  WHERE t.kind IN ('temp', 'live_out')
    AND d.opcode IN (
      'all-gather', 'all-reduce', 'all-reduce-start', 'all-to-all',
      'collective-permute', 'reduce-scatter'
    )
    AND o.operand_id IS NOT NULL
),
-- An update is what is written, not what is written into.
carried AS (
  SELECT
    module_id, locations_id, value_id, operand_id AS at_id,
    CAST(-1 AS INTEGER) AS at_element, FALSE AS is_stored
  FROM combined
  UNION
  SELECT
    t.module_id, t.locations_id, t.value_id, t.instruction_id AS at_id,
    t.element AS at_element, FALSE AS is_stored
  FROM tenants AS t
  LEFT JOIN loop_lines AS l
    ON l.module_id = t.module_id
    AND l.locations_id = t.locations_id
    AND l.source_file = t.source_file
    AND l.source_line = t.source_line
  WHERE t.kind IN ('temp', 'live_out')
    AND (l.source_line IS NOT NULL OR NOT t.is_sourced)
  UNION
  SELECT
    c.module_id, c.locations_id, c.value_id, f.source_id, f.source_element,
    c.is_stored OR f.is_update
  FROM carried AS c
  JOIN flow AS f
    ON f.module_id = c.module_id
    AND f.instruction_id = c.at_id
    AND f.element = c.at_element
  WHERE NOT (f.is_update AND f.is_whole)
),
made AS (
  SELECT
    c.module_id, c.locations_id, c.value_id,
    arg_min(c.at_id, (NOT c.is_stored, c.at_id)) AS maker_id
  FROM carried AS c
  JOIN sources AS s
    ON s.module_id = c.module_id
    AND s.locations_id = c.locations_id
    AND s.instruction_id = c.at_id
  JOIN described AS d
    ON d.module_id = c.module_id
    AND d.instruction_id = c.at_id
  ANTI JOIN loop_lines AS l
    ON l.module_id = s.module_id
    AND l.locations_id = s.locations_id
    AND l.source_file = s.source_file
    AND l.source_line = s.source_line
  ANTI JOIN flow AS f
    ON f.module_id = c.module_id
    AND f.instruction_id = c.at_id
    AND f.element = c.at_element
  WHERE s.source_file IS NOT NULL
    AND d.opcode NOT IN ('parameter', 'constant', 'iota', 'broadcast')
  GROUP BY c.module_id, c.locations_id, c.value_id
),
readings AS MATERIALIZED (
  SELECT DISTINCT u.module_id, u.value_id, u.instruction_id AS reader_id
  FROM store.value_uses AS u
  JOIN (SELECT DISTINCT module_id FROM tenants) AS t USING (module_id)
),
definitions AS MATERIALIZED (
  SELECT DISTINCT v.module_id, v.instruction_id, v.value_id
  FROM store."values" AS v
  JOIN (SELECT DISTINCT module_id FROM tenants) AS t USING (module_id)
),
readers AS (
  SELECT t.module_id, t.locations_id, t.value_id, r.reader_id, 1 AS depth
  FROM tenants AS t
  JOIN readings AS r
    ON r.module_id = t.module_id
    AND r.value_id = t.value_id
  WHERE t.kind = 'temp'
    AND NOT t.is_sourced
  UNION
  SELECT r.module_id, r.locations_id, r.value_id, n.reader_id, r.depth + 1
  FROM readers AS r
  JOIN definitions AS d
    ON d.module_id = r.module_id
    AND d.instruction_id = r.reader_id
  JOIN readings AS n
    ON n.module_id = d.module_id
    AND n.value_id = d.value_id
  ANTI JOIN sources AS s
    ON s.module_id = r.module_id
    AND s.locations_id = r.locations_id
    AND s.instruction_id = r.reader_id
  WHERE r.depth < 4
),
found AS (
  -- A group takes a tenth of the time of a window.
  SELECT
    r.module_id, r.locations_id, r.value_id,
    arg_min(
      r.reader_id,
      (r.depth, coalesce(i.schedule_step, 2147483647), r.reader_id)
    ) AS reader_id
  FROM readers AS r
  JOIN sources AS s
    ON s.module_id = r.module_id
    AND s.locations_id = r.locations_id
    AND s.instruction_id = r.reader_id
  JOIN described AS i
    ON i.module_id = r.module_id
    AND i.instruction_id = r.reader_id
  GROUP BY r.module_id, r.locations_id, r.value_id
),
-- On a CPU, the kernel of a library has the line of one of its operations; the
-- last one makes the value.
last_operations AS (
  SELECT d.module_id, d.instruction_id, c.root_instruction_id
  FROM described AS d
  SEMI JOIN modules AS m
    ON m.module_id = d.module_id
    AND m.platform = 'cpu'
  JOIN called_computations AS k USING (module_id, instruction_id)
  JOIN computations AS c
    ON c.module_id = k.module_id
    AND c.computation_id = k.computation_id
  WHERE d.is_library_kernel
),
chosen AS (
  SELECT
    t.module_id, t.locations_id, t.value_id,
    coalesce(e.instruction_id, t.instruction_id) AS instruction_id,
    'defined' AS attribution
  FROM tenants AS t
  LEFT JOIN last_operations AS r
    ON r.module_id = t.module_id
    AND r.instruction_id = t.instruction_id
  LEFT JOIN sources AS e
    ON e.module_id = t.module_id
    AND e.locations_id = t.locations_id
    AND e.instruction_id = r.root_instruction_id
    AND e.source_file IS NOT NULL
  ANTI JOIN made AS m
    ON m.module_id = t.module_id
    AND m.locations_id = t.locations_id
    AND m.value_id = t.value_id
  WHERE t.is_sourced
  UNION ALL
  SELECT module_id, locations_id, value_id, maker_id, 'stored'
  FROM made
  UNION ALL
  SELECT f.module_id, f.locations_id, f.value_id, f.reader_id, 'read'
  FROM found AS f
  ANTI JOIN made AS m
    ON m.module_id = f.module_id
    AND m.locations_id = f.locations_id
    AND m.value_id = f.value_id
)
SELECT
  c.module_id, c.locations_id, c.value_id, c.attribution, i.op_name,
  s.source_file, s.source_line, s.function_name
FROM chosen AS c
JOIN sources AS s USING (module_id, locations_id, instruction_id)
JOIN described AS i USING (module_id, instruction_id)
