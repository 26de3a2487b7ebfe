-- title: Placed values with the attributes that distinguish them
-- question: By what may a value be found again in another run?
-- definition: Placed values, thread-local ones left out, with the name, opcode
--   and path of their instruction, and their shape without layout.
-- grain: module content, value
-- param run
-- param program
-- param module_ids
-- column module_id
-- column value_id
-- column kind
-- column instruction
-- column place VARCHAR name neutral: Index into its result, {} for an array.
-- column opcode
-- column parameter_number INTEGER id neutral: The parameter it is.
-- column op_name
-- column op_path VARCHAR name neutral: Path with numbers replaced.
-- column first_step INTEGER step neutral: First step at which it is live; -1
--   without a live range.
-- column dimensions VARCHAR text neutral: Shape without layout.
SELECT
  v.module_id, v.value_id, v.kind, i.name AS instruction,
  coalesce(v.shape_index, '{}') AS place, f.opcode, f.parameter_number,
  f.op_name, coalesce(o.op_path, '') AS op_path,
  coalesce(v.start_step, -1) AS first_step,
  regexp_replace(coalesce(v.shape, ''), '\{[^}]*\}', '', 'g') AS dimensions
FROM value_places() AS v
LEFT JOIN store.instructions AS i USING (module_id, instruction_id)
LEFT JOIN store.instruction_forms AS f USING (form_id)
LEFT JOIN op_paths() AS o
  ON o.module_id = v.module_id
  AND o.instruction_id = v.instruction_id
WHERE v.kind <> 'thread_local'
