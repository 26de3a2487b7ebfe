-- step: Starts of edits of their own, with the line of their edit and the
--   user's line that they come from themselves (inner_line). In a program
--   with loops that the other side lacks, or another number of arguments, only
--   those count that are not as often on both sides; with other loops also by
--   the function and operation alone, as a loop has a path of its own. What
--   has the size of an argument that is new follows from that.
-- grain: pair, side, instruction
WITH other_loops AS (
  SELECT DISTINCT pair
  FROM loop_changes
  WHERE NOT has_same_body
    AND NOT (is_in_base AND is_in_candidate)
),
operation_counts AS (
  SELECT
    o.pair, o.opcode, o.operation, n.file_name, n.function_name,
    count_if(NOT o.is_candidate) AS base_count,
    count_if(o.is_candidate) AS candidate_count
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  GROUP BY ALL
)
SELECT
  u.*, coalesce(r.file_name, s.source_file) AS source_file,
  coalesce(r.function_name, s.function_name) AS function_name,
  coalesce(r.line, s.line) AS line,
  coalesce(r.file_name, n.file_name) AS inner_file,
  coalesce(r.function_name, n.function_name) AS inner_function,
  coalesce(r.line, n.line) AS inner_line
FROM first_unmatched AS u
JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
JOIN argument_agreement AS g USING (pair)
ANTI JOIN explained_starts AS e USING (pair, is_candidate, instruction_id)
LEFT JOIN repeated_starts AS r USING (pair, is_candidate, instruction_id)
LEFT JOIN key_counts AS k USING (pair, key)
LEFT JOIN other_loops AS l ON l.pair = u.pair
LEFT JOIN operation_counts AS o
  ON o.pair = u.pair
  AND o.opcode = u.opcode
  AND o.operation = u.operation
  AND o.file_name = n.file_name
  AND o.function_name = n.function_name
WHERE NOT u.is_backward
  AND (
    l.pair IS NULL AND (g.has_same_count OR g.has_only_more)
    OR k.base_count <> k.candidate_count
    AND (l.pair IS NULL OR o.base_count <> o.candidate_count)
  )
  AND (
    g.has_same_count
    OR g.has_only_more
    AND NOT list_contains(g.other_dims, u.dims)
    OR least(k.base_count, k.candidate_count) = 0
    AND NOT coalesce(contains(u.core, '*'), FALSE)
  )
