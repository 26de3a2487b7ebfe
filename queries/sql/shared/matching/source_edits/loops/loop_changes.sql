-- step: Loops that one side lacks, or that run another number of times. The
--   source line is that of the edit, inner_file and inner_function are of the
--   user's innermost call. is_of_gradients: it is in the backward pass, and
--   the other side has it in the forward pass alone.
-- grain: pair, loop
WITH forward_loops AS (
  SELECT o.pair, o.is_candidate, o.user_function, s.trip_count
  FROM operations AS o
  JOIN loop_sizes AS s USING (pair, is_candidate, instruction_id)
  WHERE o.opcode = 'while'
    AND NOT o.is_recomputed
  GROUP BY o.pair, o.is_candidate, o.user_function, s.trip_count
  HAVING NOT bool_or(o.is_backward)
)
SELECT
  l.pair, l.is_backward, l.user_function, l.loop_number,
  max(l.trip_count) FILTER (WHERE NOT l.is_candidate) AS base_trips,
  max(l.trip_count) FILTER (WHERE l.is_candidate) AS candidate_trips,
  max(l.body_size) FILTER (WHERE NOT l.is_candidate) AS base_size,
  max(l.body_size) FILTER (WHERE l.is_candidate) AS candidate_size,
  bool_or(NOT l.is_candidate) AS is_in_base,
  bool_or(l.is_candidate) AS is_in_candidate,
  min(s.source_file) AS source_file, min(s.function_name) AS function_name,
  max(s.line) FILTER (WHERE NOT l.is_candidate) AS base_line,
  max(s.line) FILTER (WHERE l.is_candidate) AS candidate_line,
  min(n.file_name) AS inner_file, min(n.function_name) AS inner_function,
  bool_and(l.is_of_gradients AND f.pair IS NOT NULL) AS is_of_gradients
FROM unmatched_loops AS l
LEFT JOIN forward_loops AS f
  ON f.pair = l.pair
  AND f.is_candidate <> l.is_candidate
  AND f.user_function = l.user_function
  AND f.trip_count = l.trip_count
LEFT JOIN edit_sites AS s
  ON s.pair = l.pair
  AND s.is_candidate = l.is_candidate
  AND s.frame_id = l.frame_id
LEFT JOIN innermost_calls AS n
  ON n.pair = l.pair
  AND n.is_candidate = l.is_candidate
  AND n.frame_id = l.frame_id
GROUP BY l.pair, l.is_backward, l.user_function, l.loop_number
