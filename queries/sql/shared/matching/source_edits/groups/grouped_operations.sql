-- step: Unmatched operations by the file and function in which they were
--   edited. Those that start an edit make a group; all others of the same
--   function are in it, but for what a loop reads and stacks where another
--   checkpoint saves other values: a line of such a loop is in a group only if
--   an edit starts there.
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
        line := inner_line, element_type := element_type
      ), (opcode <> 'convert', instruction_id)
    ) FILTER (WHERE is_candidate) AS inner_call
  FROM group_starts
  GROUP BY pair, source_file, function_name
),
lines_of_loops AS (
  SELECT DISTINCT
    s.pair, s.is_candidate, s.source_file, s.function_name, s.line
  FROM operations AS o
  JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
  SEMI JOIN recomputation_changes AS t USING (pair)
  ANTI JOIN group_starts AS b
    ON b.pair = s.pair
    AND b.is_candidate = s.is_candidate
    AND b.source_file = s.source_file
    AND b.function_name = s.function_name
    AND b.line = s.line
  WHERE o.opcode = 'while'
)
SELECT
  u.*, g.source_file, g.function_name, g.base_line, g.candidate_line,
  g.inner_call, coalesce(b.line, s.line) AS line, s.callee,
  b.instruction_id IS NOT NULL AS is_start
FROM unmatched_operations AS u
JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
LEFT JOIN group_starts AS b
  ON b.pair = u.pair
  AND b.is_candidate = u.is_candidate
  AND b.instruction_id = u.instruction_id
JOIN groups AS g
  ON g.pair = s.pair
  AND g.source_file = coalesce(b.source_file, s.source_file)
  AND g.function_name = coalesce(b.function_name, s.function_name)
ANTI JOIN lines_of_loops AS l
  ON l.pair = u.pair
  AND l.is_candidate = u.is_candidate
  AND l.source_file = s.source_file
  AND l.function_name = s.function_name
  AND l.line = s.line
WHERE u.opcode NOT IN ('parameter', 'get-tuple-element')
