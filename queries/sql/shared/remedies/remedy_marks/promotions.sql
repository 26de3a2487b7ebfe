-- step: Lines at which a value of 16 bits becomes f32 for an operation there,
--   in the forward pass of what the selected programs were compiled from: as
--   it meets one of f32, or as the source spells it in the same expression
--   (JAX gives both one frame). A weight of 16 bits is none: what it meets was
--   f32 before.
-- grain: program, line
WITH sources AS MATERIALIZED (
  SELECT DISTINCT
    n.module_id, n.locations_id, n.source_id,
    m.locations_id AS source_locations_id
  FROM last_snapshots() AS n
  JOIN modules AS m
    ON m.module_id = n.source_id
    AND m.run_id = n.run_id
  WHERE n.has_assignment
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
    c.module_id, u.instruction_id AS operation_id,
    unnest([c.instruction_id, u.instruction_id]) AS instruction_id
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
)
SELECT DISTINCT
  s.module_id, s.locations_id, s.source_id, s.source_locations_id,
  l.source_file AS file_name, l.function_name, l.source_line AS line
FROM sources AS s
JOIN widened AS w ON w.module_id = s.source_id
JOIN instruction_sources(
  every_run := TRUE,
  module_ids := (SELECT list(DISTINCT module_id) FROM widened),
  locations_ids := (SELECT list(DISTINCT source_locations_id) FROM sources)
) AS l
  ON l.module_id = w.module_id
  AND l.locations_id = s.source_locations_id
  AND l.instruction_id = w.instruction_id
WHERE l.source_file IS NOT NULL
  AND l.function_name IS NOT NULL
GROUP BY
  s.module_id, s.locations_id, s.source_id, s.source_locations_id,
  w.operation_id, l.source_file, l.function_name, l.source_line,
  l.stack_frame_id
HAVING count(DISTINCT w.instruction_id) > 1
