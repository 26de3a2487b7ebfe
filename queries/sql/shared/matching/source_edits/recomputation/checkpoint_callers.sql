-- step: Computations that call others, with the line of the call, in pairs of
--   which one side recomputes more.
-- grain: pair, side, computation, caller, line
SELECT DISTINCT
  i.pair, i.is_candidate, c.called_id AS computation_id,
  i.computation_id AS caller_id, l.frame_id
FROM program_calls AS c
JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
LEFT JOIN instruction_frames AS l USING (pair, is_candidate, instruction_id)
SEMI JOIN recomputation_changes AS t USING (pair)
