-- title: Instructions of the selected modules
-- question: Which instructions do the selected modules have?
-- definition: Instructions of every module of the selected run and program
--   that has a buffer assignment, each content once. Names are left out,
--   because they take the longest to read.
-- grain: module content, instruction
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column computation_id INTEGER id neutral: Number of its computation.
-- column is_root BOOLEAN flag neutral: Whether it is the root of its
--   computation.
-- column schedule_step INTEGER step neutral: Step in the schedule.
-- column opcode
-- column op_name
-- column element_type VARCHAR name neutral: Element type of its result; tuple
--   for tuples.
-- column parameter_number INTEGER id neutral: Number of a parameter.
-- column fusion_kind VARCHAR name neutral: Kind of a fusion: kLoop, kInput …
-- column custom_call_target VARCHAR name neutral: Target of a custom call.
-- column literal VARCHAR text neutral: Value of a constant.
-- column attributes VARCHAR text neutral: Attributes without a column of their
--   own.
WITH chosen AS MATERIALIZED (
  SELECT module_id
  FROM selected_contents()
),
-- Fixed before they meet their forms: else those of all modules do.
numbered AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.is_root,
    i.schedule_step, i.form_id
  FROM chosen AS c
  JOIN store.instructions AS i USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, i.module_id)
)
SELECT
  n.module_id, n.instruction_id, n.computation_id, n.is_root, n.schedule_step,
  f.opcode, f.op_name, f.element_type, f.parameter_number, f.fusion_kind,
  f.custom_call_target, f.literal, f.attributes
FROM numbered AS n
JOIN store.instruction_forms AS f USING (form_id)
