-- title: Source line of every instruction that has one
-- question: From which line of the user's code does each instruction come?
-- definition: The innermost frame that is not in a framework's own file, from
--   the stack frames of newer releases; else source_file and source_line of
--   the metadata. Of the last snapshot of every module of the chosen run and
--   program.
-- grain: module content, source locations, instruction
-- needs: final_modules, locations, stack_frames
-- param run
-- param program
-- column module_id
-- column locations_id
-- column instruction_id
-- column source_file
-- column source_line
-- column function_name
-- column stack_frame_id INTEGER id neutral: Innermost stack frame.
WITH chosen AS (
  SELECT DISTINCT m.module_id, m.locations_id
  FROM final_modules(run := $run, program := $program) AS m
)
SELECT
  c.module_id, c.locations_id, l.instruction_id,
  coalesce(u.file_name, l.source_file) AS source_file,
  coalesce(u.line, l.source_line) AS source_line,
  u.function_name, l.stack_frame_id
FROM chosen AS c
JOIN locations AS l USING (locations_id)
LEFT JOIN stack_frames AS f
  ON f.locations_id = l.locations_id
  AND f.stack_frame_id = l.stack_frame_id
LEFT JOIN stack_frames AS u
  ON u.locations_id = l.locations_id
  AND u.stack_frame_id = f.user_frame_id
