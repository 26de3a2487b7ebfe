-- title: Framework path of every instruction, normalised
-- question: Which part of the model does each instruction belong to?
-- definition: Instructions of final_contents. op_path is op_name with numbers
--   at the end of a part, and indices in brackets, replaced by '*' (layer_12
--   is layer_*, and so is Keras' layer_12_1). phase is that of the first mark
--   of path_marks in op_name; other without a mark, none without an op_name.
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
-- column is_forward_marked BOOLEAN flag neutral: Whether the framework marks
--   the whole forward pass in op_name.
-- column is_recomputed BOOLEAN flag neutral: Whether a checkpoint computes it
--   a second time.
-- column is_told_by_line BOOLEAN flag neutral: Whether its name says nothing
--   about the phase, so that its source line decides.
-- column has_line BOOLEAN flag neutral: Whether the framework gives lines to
--   such operations in some phase.
-- column schedule_step INTEGER step neutral: Step in the schedule.
WITH numbered AS MATERIALIZED (
  -- Fixed before they meet their forms: else those of all modules do.
  SELECT i.module_id, i.instruction_id, i.schedule_step, i.form_id
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, i.module_id)
),
named AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, f.op_name, i.schedule_step
  FROM numbered AS i
  JOIN store.instruction_forms AS f USING (form_id)
),
worded AS MATERIALIZED (
  -- Each word stands between slashes: what may precede or follow it is put
  -- outside of these.
  SELECT
    n.op_name,
    '/' || replace(replace(replace(
      replace(lower(n.op_name), 'dynamic_update_', ''),
      '_', '/_/'), '(', '(/'), ')', '/)') || '/' AS words
  FROM (SELECT DISTINCT op_name FROM named) AS n
  WHERE n.op_name <> ''
),
marks AS (
  SELECT
    p.place, p.meaning, p.found_as, p.mark,
    '/' || replace(p.mark, '_', '/_/') || '/' AS word
  FROM path_marks() AS p
),
marked AS MATERIALIZED (
  SELECT
    w.op_name,
    arg_min(m.meaning, m.place)
      FILTER (m.meaning IN ('backward', 'forward', 'optimiser')) AS phase,
    bool_or(m.meaning = 'whole_forward') AS is_forward_marked,
    bool_or(m.meaning = 'recomputed') AS is_recomputed,
    bool_or(m.meaning = 'by_line') AS is_told_by_line,
    bool_and(m.meaning <> 'without_line') AS has_line
  FROM worded AS w
  JOIN marks AS m
    ON CASE m.found_as
      WHEN 'part' THEN contains(w.op_name, m.mark)
      WHEN 'end' THEN ends_with(w.op_name, m.mark)
      WHEN 'word' THEN contains(w.words, m.word)
    END
  GROUP BY w.op_name
)
SELECT
  n.module_id, n.instruction_id, n.op_name,
  regexp_replace(
    n.op_name, '([_.\[])[0-9]+(?:_[0-9]+)*([/)\]]|$)', '\1*\2', 'g'
  ) AS op_path,
  CASE
    WHEN n.op_name IS NULL OR n.op_name = '' THEN 'none'
    ELSE coalesce(m.phase, 'other')
  END AS phase,
  coalesce(m.is_forward_marked, FALSE) AS is_forward_marked,
  coalesce(m.is_recomputed, FALSE) AS is_recomputed,
  coalesce(m.is_told_by_line, FALSE) AS is_told_by_line,
  coalesce(m.has_line, TRUE) AS has_line,
  n.schedule_step
FROM named AS n
LEFT JOIN marked AS m USING (op_name)
