-- step: Instructions of the selected programs.
-- grain: instruction
SELECT
  i.module_id, i.instruction_id, i.computation_id, i.schedule_step, f.opcode
FROM selected_contents() AS c
JOIN store.instructions AS i USING (module_id)
JOIN store.instruction_forms AS f USING (form_id)
