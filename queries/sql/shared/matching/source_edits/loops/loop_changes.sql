-- step: Loops that one side lacks, or that run another number of times. The
--   source line is that of the edit, inner_file and inner_function are of the
--   user's innermost call.
-- grain: pair, loop
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
  min(n.file_name) AS inner_file, min(n.function_name) AS inner_function
FROM unmatched_loops AS l
LEFT JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
LEFT JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
GROUP BY l.pair, l.is_backward, l.user_function, l.loop_number
