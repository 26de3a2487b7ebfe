-- step: Loops that one side lacks, or that run another number of times. The
--   source line is that of the edit, inner_file and inner_function are of the
--   user's innermost call; where the edit seems to be in another function on
--   each side, both lines are of that. is_of_gradients: it is in the backward
--   pass, and the other side has it in the forward pass alone. is_repeated:
--   the other side runs such a loop less often. is_on_both: both sides have
--   such loops, if not as many. has_same_body: it runs about as much as
--   before, more or fewer times. Where one side calls the function with the
--   loop from more lines of another function, the edit is such a line that the
--   other side lacks, counted from the first line of that function, and from
--   its last: of the nearest function of which that is so.
-- grain: pair, loop
WITH loops_of_functions AS (
  SELECT
    o.pair, o.is_candidate, o.user_function, s.trip_count,
    NOT bool_or(o.is_backward) FILTER (WHERE NOT o.is_recomputed) AS is_forward
  FROM operations AS o
  JOIN loop_sizes AS s USING (pair, is_candidate, instruction_id)
  WHERE o.opcode = 'while'
  GROUP BY o.pair, o.is_candidate, o.user_function, s.trip_count
),
-- The calls above the function with a loop.
loop_callers AS (
  SELECT
    o.pair, o.is_candidate, o.user_function, z.trip_count, c.file_name,
    c.function_name, c.line, min(c.distance) AS distance
  FROM operations AS o
  JOIN loop_sizes AS z USING (pair, is_candidate, instruction_id)
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  JOIN call_sites AS c USING (pair, is_candidate, frame_id)
  WHERE o.opcode = 'while'
    AND (c.file_name, c.function_name) <> (n.file_name, n.function_name)
  GROUP BY
    o.pair, o.is_candidate, o.user_function, z.trip_count, c.file_name,
    c.function_name, c.line
),
function_lines AS (
  SELECT
    pair, is_candidate, file_name, function_name, min(line) AS first_line,
    max(line) AS last_line
  FROM frames
  GROUP BY pair, is_candidate, file_name, function_name
),
caller_lines AS (
  SELECT
    c.*, c.line - f.first_line AS from_first, f.last_line - c.line AS from_last
  FROM loop_callers AS c
  JOIN function_lines AS f USING (pair, is_candidate, file_name, function_name)
),
more_callers AS (
  SELECT
    c.pair, c.is_candidate, c.user_function, c.trip_count, c.file_name,
    c.function_name, min(c.line) AS line, min(c.distance) AS distance
  FROM caller_lines AS c
  JOIN (
    SELECT
      pair, user_function, trip_count, file_name, function_name,
      count(DISTINCT line) FILTER (WHERE is_candidate)
        > count(DISTINCT line) FILTER (WHERE NOT is_candidate) AS has_more
    FROM caller_lines
    GROUP BY pair, user_function, trip_count, file_name, function_name
    HAVING count(DISTINCT is_candidate) = 2
      AND count(DISTINCT line) FILTER (WHERE is_candidate)
        <> count(DISTINCT line) FILTER (WHERE NOT is_candidate)
  ) AS m
    USING (pair, user_function, trip_count, file_name, function_name)
  ANTI JOIN caller_lines AS o
    ON o.pair = c.pair
    AND o.is_candidate <> c.is_candidate
    AND o.user_function = c.user_function
    AND o.file_name = c.file_name
    AND o.function_name = c.function_name
    AND (o.from_first = c.from_first OR o.from_last = c.from_last)
  WHERE c.is_candidate = m.has_more
  GROUP BY
    c.pair, c.is_candidate, c.user_function, c.trip_count, c.file_name,
    c.function_name
  QUALIFY row_number() OVER (
    PARTITION BY c.pair, c.is_candidate, c.user_function, c.trip_count
    ORDER BY min(c.distance), c.file_name, c.function_name
  ) = 1
),
sited_loops AS (
  SELECT
    l.*, n.file_name AS inner_file, n.function_name AS inner_function,
    n.line AS inner_line,
    coalesce(m.file_name, s.source_file) AS source_file,
    coalesce(m.function_name, s.function_name) AS function_name,
    coalesce(m.line, s.line) AS line,
    m.pair IS NOT NULL OR coalesce(s.is_added, FALSE) AS is_called_again
  FROM unmatched_loops AS l
  LEFT JOIN edit_sites AS s
    ON s.pair = l.pair
    AND s.is_candidate = l.is_candidate
    AND s.frame_id = l.frame_id
  LEFT JOIN innermost_calls AS n
    ON n.pair = l.pair
    AND n.is_candidate = l.is_candidate
    AND n.frame_id = l.frame_id
  LEFT JOIN more_callers AS m
    ON m.pair = l.pair
    AND m.is_candidate = l.is_candidate
    AND m.user_function = l.user_function
    AND m.trip_count = l.trip_count
    AND m.distance >= s.distance
),
located_loops AS (
  SELECT
    l.* REPLACE (
      CASE WHEN l.is_elsewhere THEN l.inner_file ELSE l.source_file END
        AS source_file,
      CASE WHEN l.is_elsewhere THEN l.inner_function ELSE l.function_name END
        AS function_name,
      CASE WHEN l.is_elsewhere THEN l.inner_line ELSE l.line END AS line
    )
  FROM (
    SELECT
      s.*,
      coalesce(
        min(s.function_name) OVER loop <> max(s.function_name) OVER loop, FALSE
      ) AS is_elsewhere
    FROM sited_loops AS s
    WINDOW loop AS (
      PARTITION BY s.pair, s.is_backward, s.user_function, s.loop_number
    )
  ) AS l
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
  bool_and(l.is_of_gradients AND coalesce(f.is_forward, FALSE))
    AS is_of_gradients,
  bool_and(l.is_called_again) AS is_repeated,
  bool_and(f.pair IS NOT NULL) AS is_on_both
FROM located_loops AS l
LEFT JOIN loops_of_functions AS f
  ON f.pair = l.pair
  AND f.is_candidate <> l.is_candidate
  AND f.user_function = l.user_function
  AND f.trip_count = l.trip_count
GROUP BY l.pair, l.is_backward, l.user_function, l.loop_number
