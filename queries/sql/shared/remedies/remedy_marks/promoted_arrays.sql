-- step: Arrays of f32 that a promotion made so: they come from its line, or
--   from what its function calls further down, and products there are of f32,
--   too. Where it is meant, as in a residual stream, products are of 16 bits.
--   operation_id: an operation at that line.
-- grain: value, promotion
WITH RECURSIVE frames AS (
  SELECT
    p.module_id, p.source_id, p.file_name, p.line, f.locations_id,
    f.stack_frame_id
  FROM (
    SELECT
      p.*, unnest([p.locations_id, p.source_locations_id]) AS frames_of
    FROM promotions AS p
  ) AS p
  JOIN stack_frames AS f
    ON f.locations_id = p.frames_of
    AND f.file_name = p.file_name
    AND f.function_name = p.function_name
    AND f.line >= p.line
  UNION
  SELECT
    w.module_id, w.source_id, w.file_name, w.line, f.locations_id,
    f.stack_frame_id
  FROM frames AS w
  JOIN stack_frames AS f
    ON f.locations_id = w.locations_id
    AND f.parent_id = w.stack_frame_id
),
frames_there AS MATERIALIZED (
  SELECT w.*, u.file_name = w.file_name AND u.line = w.line AS is_promotion
  FROM frames AS w
  JOIN stack_frames AS f USING (locations_id, stack_frame_id)
  JOIN stack_frames AS u
    ON u.locations_id = f.locations_id
    AND u.stack_frame_id = f.user_frame_id
),
chosen AS MATERIALIZED (
  SELECT DISTINCT w.locations_id, t.numbering_id, t.list_id
  FROM frames_there AS w
  JOIN store.location_sets AS t USING (locations_id)
),
-- Each is fixed, and of the chosen modules alone: else the numbers of all
-- modules meet all lists.
numbers AS MATERIALIZED (
  SELECT n.numbering_id, n.instruction_id, n.location_number
  FROM (SELECT DISTINCT numbering_id FROM chosen) AS c
  JOIN store.location_numbers AS n USING (numbering_id)
),
lists AS MATERIALIZED (
  SELECT c.locations_id, c.numbering_id, l.location_number, l.stack_frame_id
  FROM chosen AS c
  JOIN store.location_lists AS l USING (list_id)
),
located AS MATERIALIZED (
  SELECT
    w.module_id, w.source_id, w.file_name, w.line, w.locations_id,
    n.instruction_id, w.is_promotion
  FROM frames_there AS w
  JOIN lists AS l USING (locations_id, stack_frame_id)
  JOIN numbers AS n USING (numbering_id, location_number)
),
-- In the source, as CPUs compute products of 16 bits in f32.
wide_products AS (
  SELECT DISTINCT l.module_id, l.file_name, l.line
  FROM located AS l
  JOIN promotions AS p
    ON p.module_id = l.module_id
    AND p.source_locations_id = l.locations_id
  JOIN store.instructions AS i
    ON i.module_id = l.source_id
    AND i.instruction_id = l.instruction_id
  JOIN store.instruction_forms AS f
    ON f.form_id = i.form_id
    AND f.opcode IN ('dot', 'convolution')
    AND f.element_type = 'f32'
  JOIN operands AS o
    ON o.module_id = i.module_id
    AND o.instruction_id = i.instruction_id
  JOIN store.instructions AS x
    ON x.module_id = o.module_id
    AND x.instruction_id = o.operand_id
  JOIN store.instruction_forms AS g ON g.form_id = x.form_id
  GROUP BY l.module_id, l.file_name, l.line, l.instruction_id
  HAVING bool_and(g.element_type = 'f32')
)
SELECT DISTINCT
  v.module_id, v.value_id,
  'values that are f32 from ' || regexp_extract(w.file_name, '[^/]*$') || ':'
    || w.line || ' on' AS subject,
  p.operation_id
FROM wide_products AS w
JOIN located AS l USING (module_id, file_name, line)
JOIN (
  SELECT
    l.module_id, l.file_name, l.line, l.locations_id,
    min(l.instruction_id) AS operation_id
  FROM located AS l
  WHERE l.is_promotion
  GROUP BY l.module_id, l.file_name, l.line, l.locations_id
) AS p USING (module_id, file_name, line, locations_id)
JOIN promotions AS c USING (module_id, file_name, line, locations_id)
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
