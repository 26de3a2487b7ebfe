-- step: Their instructions.
-- grain: instruction
SELECT
  i.module_id, i.instruction_id, i.computation_id, f.opcode,
  f.parameter_number, n.is_scheduled, n.phase,
  f.opcode IN (
    'async-done', 'async-start', 'async-update', 'bitcast', 'copy',
    'copy-done', 'copy-start', 'get-tuple-element', 'tuple'
  )
  OR coalesce(f.custom_call_target = 'ConcatBitcast', FALSE) AS is_moving,
  n.phase IN ('forward', 'backward')
  AND f.opcode NOT IN (
    'bitcast', 'broadcast', 'constant', 'copy', 'iota', 'parameter',
    'reshape', 'tuple'
  ) AS is_marked
FROM marked_programs
JOIN store.instructions AS i USING (module_id)
JOIN store.instruction_forms AS f USING (form_id)
JOIN phases AS n
  ON n.module_id = i.module_id
  AND n.instruction_id = i.instruction_id
