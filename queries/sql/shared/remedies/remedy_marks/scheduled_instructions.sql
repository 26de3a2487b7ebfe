-- step: Instructions of the selected programs. is_exact: the operation has no
--   form for 16 bits, or loses its meaning in it.
-- grain: instruction
SELECT
  i.module_id, i.instruction_id, i.computation_id, i.schedule_step, f.opcode,
  f.parameter_number, f.op_name, f.shape, f.logical_bytes, i.is_root,
  f.op_name LIKE '%rematted_computation%' AS is_recomputed,
  f.op_name LIKE '%transpose(%' AS is_backward,
  f.op_name LIKE '%jvp(%' AS is_differentiated,
  f.opcode IN ('cholesky', 'fft', 'triangular-solve')
    OR regexp_matches(
      f.op_name, '(cholesky|fft|triangular_solve|/lu|eigh?|svd|/qr)(\W|$)'
    ) AS is_exact
FROM selected_contents() AS c
JOIN store.instructions AS i USING (module_id)
JOIN store.instruction_forms AS f USING (form_id)
