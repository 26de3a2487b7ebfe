-- step: Edits of loops. Another number of trips is none where the arguments
--   have other sizes: it follows from them, unless the loop is unrolled. Where
--   the loop is gone and an operation is in its function more often by the
--   number of its trips, it was unrolled. It is unrolled in part where it has
--   fewer trips and a body that is larger by about the same factor: more than
--   0.6 of it, and nearer to it than to 1. no gradients: the backward pass of
--   that side has no such loop, but the forward pass has. forward, and
--   backward: the side that has less of a loop has such loops, too. trained:
--   the loop itself has products of both passes. operations: the words of
--   step_sizes.
-- grain: pair, edit
WITH trained_loops AS (
  SELECT l.pair, l.user_function, l.loop_number
  FROM unmatched_loops AS l
  JOIN loop_contents AS t USING (pair, is_candidate, instruction_id)
  JOIN operations AS o
    ON o.pair = t.pair
    AND o.is_candidate = t.is_candidate
    AND o.computation_id = t.computation_id
  WHERE NOT l.is_backward
    AND o.opcode IN ('dot', 'convolution')
  GROUP BY l.pair, l.user_function, l.loop_number
  HAVING bool_or(contains(o.op_name, 'transpose('))
    AND bool_or(NOT contains(o.op_name, 'transpose('))
),
loop_keys AS (
  SELECT DISTINCT
    l.pair, n.file_name AS inner_file, n.function_name AS inner_function, o.key
  FROM unmatched_loops AS l
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  JOIN loop_contents AS t
    ON t.pair = l.pair
    AND t.is_candidate = l.is_candidate
    AND t.instruction_id = l.instruction_id
  JOIN operations AS o
    ON o.pair = t.pair
    AND o.is_candidate = t.is_candidate
    AND o.computation_id = t.computation_id
  WHERE o.core IS NOT NULL
    AND o.is_located
),
-- Paths of what runs in a loop, and of what is like it on the other side.
loop_paths AS (
  SELECT
    k.pair, k.inner_file, k.inner_function,
    list(DISTINCT o.op_paths) FILTER (WHERE NOT o.is_candidate) AS base_paths,
    list(DISTINCT o.op_paths) FILTER (WHERE o.is_candidate) AS candidate_paths
  FROM loop_keys AS k
  JOIN operations AS o USING (pair, key)
  WHERE $with_paths
  GROUP BY k.pair, k.inner_file, k.inner_function
),
key_counts AS (
  SELECT
    o.pair, n.file_name, n.function_name, o.key,
    bool_and(o.opcode IN (
      'slice', 'pad', 'concatenate', 'reshape', 'broadcast', 'transpose'
    )) AS is_move,
    count_if(o.is_candidate) - count_if(NOT o.is_candidate) AS more_times
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  GROUP BY o.pair, n.file_name, n.function_name, o.key
  -- What computes all steps at once is another operation.
  HAVING bool_or(NOT o.is_candidate)
),
-- By how much the operation of its function is more frequent of which most
-- were added, or what runs in it as a whole. What only takes arrays apart is
-- more frequent in a tree of operations, too (associative_scan).
repetitions AS (
  SELECT pair, inner_file, inner_function, max(more_times) AS more_times
  FROM (
    SELECT
      c.pair, c.file_name AS inner_file, c.function_name AS inner_function,
      max(c.more_times) AS more_times
    FROM key_counts AS c
    WHERE NOT c.is_move
    GROUP BY c.pair, c.file_name, c.function_name
    UNION ALL
    SELECT k.pair, k.inner_file, k.inner_function, median(c.more_times)
    FROM loop_keys AS k
    JOIN key_counts AS c USING (pair, key)
    GROUP BY k.pair, k.inner_file, k.inner_function
  )
  GROUP BY pair, inner_file, inner_function
)
SELECT
  l.pair, 'loop' AS change,
  CASE
    WHEN l.is_unrolled_in_base THEN 'partly unrolled'
    WHEN l.is_in_base THEN coalesce(CAST(l.base_trips AS VARCHAR), '?')
    WHEN l.is_of_gradients THEN 'no gradients'
    WHEN l.is_repeated THEN o.passes
    WHEN e.pair IS NOT NULL THEN 'trained'
  END AS base_text,
  CASE
    WHEN l.is_unrolled_in_candidate THEN 'partly unrolled'
    WHEN l.is_in_candidate
      THEN coalesce(CAST(l.candidate_trips AS VARCHAR), '?')
    WHEN l.base_trips - 1 <= r.more_times THEN 'unrolled'
    WHEN l.is_of_gradients THEN 'no gradients'
    WHEN l.is_repeated THEN o.passes
    WHEN e.pair IS NOT NULL THEN 'trained'
  END AS candidate_text,
  nullif(l.inner_function, '') || CASE
    WHEN o.function_count > 1 THEN format(' and {} more', o.function_count - 1)
    ELSE ''
  END AS subject, z.words AS operations, 1 AS operation_count,
  l.source_file, l.function_name, l.base_line, l.candidate_line,
  p.base_paths, p.candidate_paths,
  CASE WHEN NOT l.is_in_base THEN k.stored_shapes END AS stored_shapes
FROM (
  SELECT
    *,
    coalesce(
      base_trips < candidate_trips
      AND base_size > 0.6 * candidate_size * candidate_trips
        / nullif(base_trips, 0)
      AND pow(base_size, 2) * base_trips
        > pow(candidate_size, 2) * candidate_trips, FALSE
    ) AS is_unrolled_in_base,
    coalesce(
      candidate_trips < base_trips
      AND candidate_size > 0.6 * base_size * base_trips
        / nullif(candidate_trips, 0)
      AND pow(candidate_size, 2) * candidate_trips
        > pow(base_size, 2) * base_trips, FALSE
    ) AS is_unrolled_in_candidate
  FROM loop_changes
) AS l
JOIN argument_agreement AS g USING (pair)
LEFT JOIN recomputation_changes AS t USING (pair)
LEFT JOIN (
  SELECT
    pair, function_name, base_line, candidate_line,
    count(DISTINCT inner_function) FILTER (WHERE NOT is_backward)
      AS function_count,
    CASE
      WHEN bool_or(is_backward) THEN 'forward and backward' ELSE 'forward'
    END AS passes
  FROM loop_changes
  WHERE NOT (is_in_base AND is_in_candidate)
  GROUP BY pair, function_name, base_line, candidate_line
) AS o
  ON o.pair = l.pair
  AND o.function_name = l.function_name
  AND coalesce(o.base_line, 0) = coalesce(l.base_line, 0)
  AND coalesce(o.candidate_line, 0) = coalesce(l.candidate_line, 0)
LEFT JOIN step_sizes AS z
  ON z.pair = l.pair
  AND z.is_backward = l.is_backward
  AND z.user_function IS NOT DISTINCT FROM l.user_function
  AND z.loop_number = l.loop_number
LEFT JOIN trained_loops AS e
  ON e.pair = l.pair
  AND e.user_function IS NOT DISTINCT FROM l.user_function
  AND e.loop_number = l.loop_number
LEFT JOIN loop_paths AS p USING (pair, inner_file, inner_function)
LEFT JOIN repetitions AS r USING (pair, inner_file, inner_function)
LEFT JOIN loop_stacks AS k
  ON k.pair = l.pair
  AND k.inner_file = l.inner_file
  AND k.inner_function = l.inner_function
  AND k.trip_count = l.candidate_trips
-- Gradients that one side alone computes bring loops of their own.
ANTI JOIN gradient_sides AS d
  ON d.pair = l.pair
  AND NOT l.is_of_gradients
  AND l.is_in_base <> l.is_in_candidate
-- Of a loop of an unknown number of trips, no other number is known.
WHERE (
    NOT (l.is_in_base AND l.is_in_candidate)
    OR l.is_unrolled_in_base
    OR l.is_unrolled_in_candidate
    OR g.has_same_sizes
    AND l.base_trips IS NOT NULL
    AND l.candidate_trips IS NOT NULL
  )
  -- A loop that no line leads to is one that a checkpoint runs again, and what
  -- both sides have at one call may be taken out of a checkpoint.
  AND (
    t.pair IS NULL
    OR l.source_file IS NOT NULL
    AND NOT (
      l.is_on_both
      AND NOT (l.is_repeated OR l.is_of_gradients)
      AND l.is_in_base <> l.is_in_candidate
    )
  )
QUALIFY row_number() OVER (
  PARTITION BY l.pair, l.function_name, l.base_line, l.candidate_line
  ORDER BY
    l.is_backward, coalesce(l.candidate_size, l.base_size) DESC,
    coalesce(k.stored_bytes, 0) DESC, l.inner_function, l.loop_number
) = 1
  -- The backward pass runs the loop of the forward pass.
  AND row_number() OVER (
    PARTITION BY
      l.pair, l.user_function, l.loop_number, l.base_trips, l.candidate_trips
    ORDER BY l.is_backward
  ) = 1
