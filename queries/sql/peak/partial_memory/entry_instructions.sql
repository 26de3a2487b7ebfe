-- step: Instructions of their entry computations: arguments, result, and what
--   makes new arrays.
-- grain: instruction
WITH contents AS MATERIALIZED (
  SELECT DISTINCT module_id, entry_computation_id, is_scheduled
  FROM unmeasured
)
SELECT
  i.module_id, i.instruction_id, f.shape, c.is_scheduled, f.parameter_number,
  i.instruction_id = n.root_instruction_id AS is_result,
  f.opcode = 'parameter' AS is_argument,
  f.opcode IN (
    'broadcast', 'compare', 'concatenate', 'convert', 'convolution', 'dot',
    'fusion', 'gather', 'iota', 'pad', 'reduce', 'reduce-window',
    'reverse', 'slice', 'dynamic-slice', 'transpose'
  ) AS is_new
FROM contents AS c
JOIN computations AS n
  ON n.module_id = c.module_id
  AND n.computation_id = c.entry_computation_id
JOIN store.instructions AS i
  ON i.module_id = c.module_id
  AND i.computation_id = c.entry_computation_id
JOIN store.instruction_forms AS f USING (form_id)
