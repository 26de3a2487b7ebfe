-- title: Framework path of every instruction, normalised
-- question: To which part of the model does an instruction belong?
-- definition: Instructions of final_contents. op_path is op_name where numbers
--   at the end of a part, and indices in brackets, become '*' (layer_12 is
--   layer_*, and so is Keras' layer_12_1). phase: backward where the path
--   contains transpose( (JAX), gradient_tape/ (TensorFlow) or aot_backward (a
--   scan of PyTorch's), or ends in _backward (PyTorch); forward where it
--   contains jvp( (JAX) or aot_forward (that scan; else others don't mark it);
--   optimiser where a part is called like an optimiser or an update, other for
--   any other path, none without a path.
-- grain: module content, instruction
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column op_name
-- column op_path VARCHAR name neutral: Path with numbers replaced.
-- column phase VARCHAR name neutral: forward, backward, optimiser, other or
--   none.
-- column schedule_step INTEGER step neutral: Its place in the schedule.
WITH numbered AS MATERIALIZED (
  -- Fixed before they meet their forms: else those of all modules do.
  SELECT i.module_id, i.instruction_id, i.schedule_step, i.form_id
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, i.module_id)
)
SELECT
  i.module_id, i.instruction_id, f.op_name,
  regexp_replace(
    f.op_name, '([_.\[])[0-9]+(?:_[0-9]+)*([/)\]]|$)', '\1*\2', 'g'
  ) AS op_path,
  CASE
    WHEN f.op_name IS NULL OR f.op_name = '' THEN 'none'
    WHEN f.op_name LIKE '%transpose(%'
      OR f.op_name LIKE '%gradient\_tape/%' ESCAPE '\'
      OR f.op_name LIKE '%aot\_backward%' ESCAPE '\'
      OR f.op_name LIKE '%\_backward' ESCAPE '\'
      THEN 'backward'
    WHEN f.op_name LIKE '%jvp(%'
      OR f.op_name LIKE '%aot\_forward%' ESCAPE '\'
      THEN 'forward'
    -- dynamic_update_slice writes into an array, a cache for one.
    WHEN regexp_matches(
      replace(lower(f.op_name), 'dynamic_update_', ''),
      '(^|[/(_])(adam|adamw|sgd|optimi[sz]er|apply_updates?|update|momentum'
        || '|lion|adafactor|lamb|rmsprop|adagrad|adadelta|adamax|nadam|ftrl'
        || '|muon)([/)_]|$)'
    ) THEN 'optimiser'
    ELSE 'other'
  END AS phase,
  i.schedule_step
FROM numbered AS i
JOIN store.instruction_forms AS f USING (form_id)
