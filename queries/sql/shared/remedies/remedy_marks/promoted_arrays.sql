-- step: Arrays of f32 that a promotion made so: they come from what its
--   function does and calls further down, where all products are of f32 and
--   come from two lines or more. Where f32 is meant, as in a residual
--   stream, products are of 16 bits; a router or a head has one of its own.
--   operation_id: an operation at that line.
-- grain: value, promotion
WITH RECURSIVE frames AS (
  SELECT
    p.module_id, p.file_name, p.line, f.locations_id, f.stack_frame_id
  FROM (
    SELECT
      p.*, unnest([p.locations_id, p.source_locations_id]) AS frames_of
    FROM promotions AS p
  ) AS p
  JOIN stack_frames AS f
    ON f.locations_id = p.frames_of
    AND f.file_name = p.file_name
    AND f.function_name = p.function_name
    AND f.line > p.line
  UNION
  SELECT
    w.module_id, w.file_name, w.line, f.locations_id, f.stack_frame_id
  FROM frames AS w
  JOIN stack_frames AS f
    ON f.locations_id = w.locations_id
    AND f.parent_id = w.stack_frame_id
),
lines AS MATERIALIZED (
  SELECT l.*
  FROM instruction_sources(
    every_run := TRUE,
    module_ids := (
      SELECT list(DISTINCT module_id) || list(DISTINCT source_id)
      FROM promotions
    ),
    locations_ids := (
      SELECT list(DISTINCT locations_id) || list(DISTINCT source_locations_id)
      FROM promotions
    )
  ) AS l
),
located AS MATERIALIZED (
  SELECT
    w.module_id, w.file_name, w.line, l.module_id AS located_id,
    l.instruction_id, l.source_file, l.source_line
  FROM frames AS w
  JOIN lines AS l USING (locations_id, stack_frame_id)
),
-- In the source, as CPUs compute products of 16 bits in f32.
products AS (
  SELECT
    l.module_id, l.file_name, l.line, l.instruction_id, l.source_file,
    l.source_line, any_value(f.op_name) LIKE '%transpose(%' AS is_backward,
    bool_and(f.element_type = 'f32' AND g.element_type = 'f32') AS is_wide
  FROM located AS l
  JOIN promotions AS p
    ON p.module_id = l.module_id
    AND p.file_name = l.file_name
    AND p.line = l.line
    AND p.source_id = l.located_id
  JOIN store.instructions AS i
    ON i.module_id = l.located_id
    AND i.instruction_id = l.instruction_id
  JOIN store.instruction_forms AS f
    ON f.form_id = i.form_id
    AND f.opcode IN ('dot', 'convolution')
  JOIN operands AS o
    ON o.module_id = i.module_id
    AND o.instruction_id = i.instruction_id
  JOIN store.instructions AS x
    ON x.module_id = o.module_id
    AND x.instruction_id = o.operand_id
  JOIN store.instruction_forms AS g ON g.form_id = x.form_id
  GROUP BY
    l.module_id, l.file_name, l.line, l.instruction_id, l.source_file,
    l.source_line
),
wide_lines AS (
  SELECT p.module_id, p.file_name, p.line
  FROM products AS p
  GROUP BY p.module_id, p.file_name, p.line
  HAVING bool_and(p.is_wide)
    AND count(DISTINCT row(p.source_file, p.source_line))
      FILTER (WHERE NOT coalesce(p.is_backward, FALSE)) > 1
)
SELECT DISTINCT
  v.module_id, v.value_id,
  'values that are f32 from ' || regexp_extract(w.file_name, '[^/]*$') || ':'
    || w.line || ' on' AS subject,
  p.operation_id
FROM wide_lines AS w
JOIN located AS l
  ON l.module_id = w.module_id
  AND l.located_id = w.module_id
  AND l.file_name = w.file_name
  AND l.line = w.line
JOIN (
  SELECT
    module_id, source_file, source_line, min(instruction_id) AS operation_id
  FROM lines
  GROUP BY module_id, source_file, source_line
) AS p
  ON p.module_id = w.module_id
  AND p.source_file = w.file_name
  AND p.source_line = w.line
JOIN arrays AS v
  ON v.module_id = l.module_id
  AND v.instruction_id = l.instruction_id
ANTI JOIN argument_sizes AS a
  ON a.module_id = v.module_id
  AND a.sizes = list_sort(string_split(v.dimensions, ','))
ANTI JOIN widened_arrays AS e
  ON e.module_id = v.module_id
  AND e.value_id = v.value_id
WHERE v.kind IN ('temp', 'live_out')
  AND v.element_type = 'f32'
  AND v.dimensions LIKE '%,%'
