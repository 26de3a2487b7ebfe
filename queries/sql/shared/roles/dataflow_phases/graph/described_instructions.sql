-- step: Their instructions.
-- grain: instruction
SELECT i.module_id, i.instruction_id, i.computation_id, f.opcode
FROM half_marked
JOIN store.instructions AS i USING (module_id)
JOIN store.instruction_forms AS f USING (form_id)
