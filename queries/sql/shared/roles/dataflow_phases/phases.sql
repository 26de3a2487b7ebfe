-- step: Phases of instructions, as far as they are marked.
-- grain: instruction
SELECT
  o.module_id, o.instruction_id, o.phase, o.is_forward_marked,
  o.schedule_step
FROM instruction_phases() AS o
