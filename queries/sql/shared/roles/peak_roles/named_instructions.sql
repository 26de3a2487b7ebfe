-- step: Instructions of the selected programs; whether XLA recomputes them. A
--   fusion that the compiler gave no name has that of the last operation in
--   it, other than a spread constant, and its phase as inner_phase.
-- grain: instruction
WITH last_names AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id,
    arg_max(i.op_name, i.instruction_id) AS op_name,
    arg_max(h.phase, i.instruction_id) AS phase
  FROM selected_instructions() AS f
  JOIN called_computations AS c USING (module_id, instruction_id)
  JOIN selected_instructions() AS i
    ON i.module_id = c.module_id
    AND i.computation_id = c.computation_id
  JOIN instruction_phases() AS h
    ON h.module_id = i.module_id
    AND h.instruction_id = i.instruction_id
  WHERE f.opcode = 'fusion'
    AND coalesce(f.op_name, '') = ''
    AND i.op_name <> ''
    AND i.opcode NOT IN ('broadcast', 'constant', 'iota', 'parameter')
    AND h.phase <> 'none'
  GROUP BY c.module_id, c.instruction_id
)
SELECT
  i.module_id, i.instruction_id, i.computation_id, i.opcode,
  coalesce(l.op_name, i.op_name) AS op_name, l.phase AS inner_phase,
  i.parameter_number,
  regexp_matches(n.name, '\.remat[0-9]*(\.|$)') AS is_recomputed
FROM selected_instructions() AS i
JOIN store.instructions AS n
  ON n.module_id = i.module_id
  AND n.instruction_id = i.instruction_id
LEFT JOIN last_names AS l
  ON l.module_id = i.module_id
  AND l.instruction_id = i.instruction_id
