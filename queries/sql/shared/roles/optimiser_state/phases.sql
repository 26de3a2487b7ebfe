-- step: Phases of instructions.
-- grain: instruction
SELECT
  o.module_id, o.instruction_id, o.phase, o.is_forward_marked,
  o.schedule_step IS NOT NULL AS is_scheduled
FROM instruction_phases() AS o
