-- step: Where a value of 16 bits meets one of f32 and becomes f32 with it, as
--   jax.numpy's types do, in the forward pass of what the selected programs
--   were compiled from. Such a conversion has the line and the column of the
--   operation that needs it; one that the source spells has its own. A weight
--   of 16 bits is none: what it meets was f32 before.
-- grain: program, line
WITH sources AS MATERIALIZED (
  SELECT DISTINCT
    n.module_id, n.locations_id, n.source_id,
    m.locations_id AS source_locations_id
  FROM ranked_snapshots() AS n
  JOIN modules AS m
    ON m.module_id = n.source_id
    AND m.run_id = n.run_id
  WHERE n.place = 1
    AND n.has_assignment
),
operations AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, f.opcode, f.element_type, f.shape
  FROM (SELECT DISTINCT source_id FROM sources) AS s
  JOIN store.instructions AS i ON i.module_id = s.source_id
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.element_type IN ('f32', 'bf16', 'f16')
    AND coalesce(f.op_name, '') NOT LIKE '%transpose(%'
),
widened AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id AS conversion_id,
    u.instruction_id AS operation_id
  FROM operations AS c
  JOIN operands AS p
    ON p.module_id = c.module_id
    AND p.instruction_id = c.instruction_id
  JOIN operations AS n
    ON n.module_id = c.module_id
    AND n.instruction_id = p.operand_id
    AND n.element_type <> 'f32'
    AND n.opcode IN (
      'dot', 'convolution', 'add', 'subtract', 'multiply', 'divide', 'maximum',
      'gather', 'select', 'tanh', 'concatenate'
    )
  JOIN operands AS r
    ON r.module_id = c.module_id
    AND r.operand_id = c.instruction_id
  JOIN operations AS u
    ON u.module_id = c.module_id
    AND u.instruction_id = r.instruction_id
    AND u.opcode IN (
      'add', 'multiply', 'divide', 'dot', 'concatenate', 'select'
    )
  WHERE c.opcode = 'convert'
    AND c.element_type = 'f32'
    AND c.shape LIKE '%,%'
),
chosen AS MATERIALIZED (
  SELECT DISTINCT
    s.source_locations_id AS locations_id, t.numbering_id, t.list_id
  FROM sources AS s
  JOIN store.location_sets AS t ON t.locations_id = s.source_locations_id
  SEMI JOIN widened AS w ON w.module_id = s.source_id
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
located AS (
  SELECT
    s.module_id, s.locations_id, s.source_id, s.source_locations_id,
    w.operation_id, u.file_name, u.function_name, u.line, u.column
  FROM sources AS s
  JOIN (
    SELECT
      w.module_id, w.operation_id,
      unnest([w.conversion_id, w.operation_id]) AS instruction_id
    FROM widened AS w
  ) AS w ON w.module_id = s.source_id
  JOIN lists AS l ON l.locations_id = s.source_locations_id
  JOIN numbers AS n
    ON n.numbering_id = l.numbering_id
    AND n.location_number = l.location_number
    AND n.instruction_id = w.instruction_id
  JOIN stack_frames AS f
    ON f.locations_id = s.source_locations_id
    AND f.stack_frame_id = l.stack_frame_id
  JOIN stack_frames AS u
    ON u.locations_id = s.source_locations_id
    AND u.stack_frame_id = f.user_frame_id
)
SELECT DISTINCT
  l.module_id, l.locations_id, l.source_id, l.source_locations_id,
  l.file_name, l.function_name, l.line
FROM located AS l
WHERE l.function_name IS NOT NULL
GROUP BY
  l.module_id, l.locations_id, l.source_id, l.source_locations_id,
  l.operation_id, l.file_name, l.function_name, l.line, l.column
HAVING count(*) > 1
