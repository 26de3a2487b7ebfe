-- step: Unmatched operations by the file and function in which they were
--   edited. Those that start an edit make a group; all others of the same
--   function are in it.
-- grain: pair, side, instruction
WITH groups AS (
  SELECT
    pair, source_file, function_name,
    mode(line ORDER BY instruction_id) FILTER (WHERE NOT is_candidate)
      AS base_line,
    mode(line ORDER BY instruction_id) FILTER (WHERE is_candidate)
      AS candidate_line,
    arg_min(
      struct_pack(
        file_name := inner_file, function_name := inner_function,
        line := inner_line
      ), (opcode <> 'convert', instruction_id)
    ) FILTER (WHERE is_candidate) AS inner_call
  FROM group_starts
  GROUP BY pair, source_file, function_name
)
SELECT
  u.*, g.source_file, g.function_name, g.base_line, g.candidate_line,
  g.inner_call, s.line, s.callee,
  b.instruction_id IS NOT NULL AS is_start
FROM unmatched_operations AS u
JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
JOIN groups AS g
  ON g.pair = s.pair
  AND g.source_file = s.source_file
  AND g.function_name = s.function_name
LEFT JOIN group_starts AS b
  ON b.pair = u.pair
  AND b.is_candidate = u.is_candidate
  AND b.instruction_id = u.instruction_id
WHERE u.opcode NOT IN ('parameter', 'get-tuple-element')
