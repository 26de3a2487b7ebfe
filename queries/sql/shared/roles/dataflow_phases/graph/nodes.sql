-- step: Scheduled instructions with their phases.
-- grain: instruction
SELECT
  n.module_id, n.instruction_id, n.phase, i.computation_id, i.opcode,
  n.phase IN ('other', 'none') AS is_unmarked,
  i.opcode IN ('bitcast', 'copy')
  OR n.phase = 'none' AS is_moving
FROM described_instructions AS i
JOIN phases AS n USING (module_id, instruction_id)
WHERE n.schedule_step IS NOT NULL
