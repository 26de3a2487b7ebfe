-- title: Framework path of every instruction, normalised
-- question: To which part of the model does an instruction belong?
-- definition: Instructions of the last snapshot of every module. op_path is
--   op_name where numbers at the end of a part, and indices in brackets,
--   become '*' (layer_12 is layer_*, and so is Keras' layer_12_1). phase:
--   backward where the path contains transpose( (JAX), gradient_tape/
--   (TensorFlow) or aot_backward (a scan of PyTorch's), or ends in _backward
--   (PyTorch); forward where it contains jvp( (JAX) or aot_forward (that scan;
--   else others don't mark it); optimiser where a part is called like an
--   optimiser or an update, other for any other path, none without a path.
-- grain: module content, instruction
-- needs: final_modules, instructions
-- param run
-- param program
-- param module_ids
-- column module_id
-- column instruction_id
-- column op_name
-- column op_path VARCHAR name neutral: Path with numbers replaced.
-- column phase VARCHAR name neutral: forward, backward, optimiser, other or
--   none.
-- column schedule_step INTEGER step neutral: Its place in the schedule.
WITH chosen AS (
  SELECT DISTINCT m.module_id
  FROM final_modules(
    run := $run, program := $program, module_ids := $module_ids
  ) AS m
)
SELECT
  i.module_id, i.instruction_id, i.op_name,
  regexp_replace(
    i.op_name, '([_.\[])[0-9]+(?:_[0-9]+)*([/)\]]|$)', '\1*\2', 'g'
  ) AS op_path,
  CASE
    WHEN i.op_name IS NULL OR i.op_name = '' THEN 'none'
    WHEN i.op_name LIKE '%transpose(%'
      OR i.op_name LIKE '%gradient\_tape/%' ESCAPE '\'
      OR i.op_name LIKE '%aot\_backward%' ESCAPE '\'
      OR i.op_name LIKE '%\_backward' ESCAPE '\'
      THEN 'backward'
    WHEN i.op_name LIKE '%jvp(%'
      OR i.op_name LIKE '%aot\_forward%' ESCAPE '\'
      THEN 'forward'
    -- dynamic_update_slice writes into an array, a cache for one.
    WHEN regexp_matches(
      replace(lower(i.op_name), 'dynamic_update_', ''),
      '(^|[/(_])(adam|adamw|sgd|optimi[sz]er|apply_updates?|update|momentum'
        || '|lion|adafactor|lamb|rmsprop|adagrad|adadelta|adamax|nadam|ftrl'
        || '|muon)([/)_]|$)'
    ) THEN 'optimiser'
    ELSE 'other'
  END AS phase,
  i.schedule_step
FROM instructions AS i
JOIN chosen USING (module_id)
