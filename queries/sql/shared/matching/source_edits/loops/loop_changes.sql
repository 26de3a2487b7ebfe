-- step: Loops that one side lacks, or that run another number of times. The
--   source line is that of the edit, inner_file and inner_function are of the
--   user's innermost call; where the edit seems to be in another function on
--   each side, both lines are of that. is_of_gradients: it is in the backward
--   pass, and the other side has it in the forward pass alone. has_same_body:
--   it runs about as much as before, more or fewer times.
-- grain: pair, loop
WITH forward_loops AS (
  SELECT o.pair, o.is_candidate, o.user_function, s.trip_count
  FROM operations AS o
  JOIN loop_sizes AS s USING (pair, is_candidate, instruction_id)
  WHERE o.opcode = 'while'
    AND NOT o.is_recomputed
  GROUP BY o.pair, o.is_candidate, o.user_function, s.trip_count
  HAVING NOT bool_or(o.is_backward)
),
located_loops AS (
  SELECT
    l.*,
    coalesce(
      min(s.function_name) OVER loop <> max(s.function_name) OVER loop, FALSE
    ) AS is_elsewhere,
    n.file_name AS inner_file, n.function_name AS inner_function,
    CASE WHEN is_elsewhere THEN n.file_name ELSE s.source_file END
      AS source_file,
    CASE WHEN is_elsewhere THEN n.function_name ELSE s.function_name END
      AS function_name,
    CASE WHEN is_elsewhere THEN n.line ELSE s.line END AS line
  FROM unmatched_loops AS l
  LEFT JOIN edit_sites AS s
    ON s.pair = l.pair
    AND s.is_candidate = l.is_candidate
    AND s.frame_id = l.frame_id
  LEFT JOIN innermost_calls AS n
    ON n.pair = l.pair
    AND n.is_candidate = l.is_candidate
    AND n.frame_id = l.frame_id
  WINDOW loop AS (
    PARTITION BY l.pair, l.is_backward, l.user_function, l.loop_number
  )
)
SELECT
  l.pair, l.is_backward, l.user_function, l.loop_number,
  max(l.trip_count) FILTER (WHERE NOT l.is_candidate) AS base_trips,
  max(l.trip_count) FILTER (WHERE l.is_candidate) AS candidate_trips,
  max(l.body_size) FILTER (WHERE NOT l.is_candidate) AS base_size,
  max(l.body_size) FILTER (WHERE l.is_candidate) AS candidate_size,
  bool_or(NOT l.is_candidate) AS is_in_base,
  bool_or(l.is_candidate) AS is_in_candidate,
  is_in_base AND is_in_candidate AND base_size BETWEEN
    0.8 * candidate_size AND 1.25 * candidate_size AS has_same_body,
  min(l.source_file) AS source_file, min(l.function_name) AS function_name,
  max(l.line) FILTER (WHERE NOT l.is_candidate) AS base_line,
  max(l.line) FILTER (WHERE l.is_candidate) AS candidate_line,
  min(l.inner_file) AS inner_file, min(l.inner_function) AS inner_function,
  bool_and(l.is_of_gradients AND f.pair IS NOT NULL) AS is_of_gradients
FROM located_loops AS l
LEFT JOIN forward_loops AS f
  ON f.pair = l.pair
  AND f.is_candidate <> l.is_candidate
  AND f.user_function = l.user_function
  AND f.trip_count = l.trip_count
GROUP BY l.pair, l.is_backward, l.user_function, l.loop_number
