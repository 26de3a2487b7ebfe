-- step: Instructions of the selected programs; whether XLA recomputes them.
-- grain: instruction
SELECT
  i.module_id, i.instruction_id, i.computation_id, i.opcode, i.op_name,
  i.parameter_number,
  regexp_matches(n.name, '\.remat[0-9]*(\.|$)') AS is_recomputed
FROM selected_instructions() AS i
JOIN store.instructions AS n
  ON n.module_id = i.module_id
  AND n.instruction_id = i.instruction_id
