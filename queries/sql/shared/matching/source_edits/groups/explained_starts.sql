-- step: Starts that belong to another edit: to a checkpoint, constant, loop or
--   output of the same line or function, or to a loop on one side that runs
--   them, or ran them; to one that runs other times and has another body if
--   both sides have such; to one that runs more or fewer times only where
--   their innermost call is in its function. A conversion in a function that
--   is recomputed belongs to that where the other side has as many. The empty
--   stacks that a loop begins with are of its own line, and another
--   checkpoint saves other values in them, of other types. What only moved
--   into a function that one side has is there as often on both sides, and so
--   are the parts of a stack that JAX joins with what reads it.
-- grain: pair, side, instruction
WITH recomputed_functions AS (
  SELECT DISTINCT
    o.pair, o.outer_function, n.function_name = o.outer_function AS is_shared
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  SEMI JOIN recomputation_changes AS t USING (pair)
  LEFT JOIN recomputed_computations AS r
    USING (pair, is_candidate, computation_id)
  WHERE o.is_recomputed
    OR r.computation_id IS NOT NULL
),
computations_in_loops AS (
  SELECT
    t.pair, t.is_candidate, t.computation_id,
    bool_and(c.is_in_base AND c.is_in_candidate) AS is_on_both_sides
  FROM unmatched_loops AS l
  JOIN loop_contents AS t USING (pair, is_candidate, instruction_id)
  JOIN loop_changes AS c USING (pair, is_backward, user_function, loop_number)
  WHERE NOT c.has_same_body
  GROUP BY t.pair, t.is_candidate, t.computation_id
),
run_in_loops AS (
  SELECT DISTINCT
    o.pair, o.is_candidate, o.opcode, o.operation, o.element_type,
    n.file_name, n.function_name
  FROM operations AS o
  JOIN computations_in_loops AS b USING (pair, is_candidate, computation_id)
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  WHERE NOT b.is_on_both_sides
  UNION
  -- Indices of one step are arrays where all steps are computed at once.
  SELECT
    i.pair, i.is_candidate, f.opcode, NULL, f.element_type, n.file_name,
    n.function_name
  FROM program_instructions AS i
  JOIN computations_in_loops AS b USING (pair, is_candidate, computation_id)
  JOIN forms AS f USING (form_id)
  JOIN instruction_frames AS l USING (pair, is_candidate, instruction_id)
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  WHERE NOT b.is_on_both_sides
    AND f.dims = '[]'
    AND regexp_full_match(f.element_type, 'pred|[su]\d+')
),
-- is_of_one: only the side with the loop has the function.
functions_of_loops AS (
  SELECT
    r.pair, r.is_candidate, r.file_name, r.function_name,
    count(n.pair) = 0 AS is_of_one
  FROM run_in_loops AS r
  LEFT JOIN innermost_calls AS n
    ON n.pair = r.pair
    AND n.is_candidate <> r.is_candidate
    AND n.file_name = r.file_name
    AND n.function_name = r.function_name
  GROUP BY ALL
),
keys_of_sides AS (
  SELECT DISTINCT pair, is_candidate, key, element_type FROM operations
),
-- Keys that one side has more of by what runs in its own loops.
keys_of_loops AS (
  SELECT o.pair, o.key, o.element_type
  FROM operations AS o
  SEMI JOIN unmatched_loops AS l USING (pair)
  LEFT JOIN computations_in_loops AS b
    USING (pair, is_candidate, computation_id)
  GROUP BY o.pair, o.key, o.element_type
  HAVING count_if(NOT b.is_on_both_sides) > 0
    AND count_if(o.is_candidate) - count_if(NOT o.is_candidate)
      = count_if(NOT b.is_on_both_sides AND o.is_candidate)
      - count_if(NOT b.is_on_both_sides AND NOT o.is_candidate)
),
converted AS (
  SELECT
    o.pair, o.operation, n.file_name, n.function_name, o.element_type,
    CASE WHEN g.has_same_sizes THEN o.dims END AS dims,
    count_if(NOT o.is_candidate) AS base_count,
    count_if(o.is_candidate) AS candidate_count
  FROM operations AS o
  JOIN argument_agreement AS g USING (pair)
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  WHERE o.opcode = 'convert'
    AND NOT o.is_backward
    AND NOT o.is_recomputed
  GROUP BY ALL
),
computed_kinds AS (
  SELECT
    pair, opcode, operation, element_type, dims,
    count_if(is_candidate) = count_if(NOT is_candidate) AS is_as_often
  FROM operations
  SEMI JOIN recomputation_changes USING (pair)
  WHERE NOT is_backward
    AND NOT is_recomputed
  GROUP BY ALL
),
lines_of_whiles AS (
  SELECT DISTINCT
    o.pair, o.is_candidate, n.file_name, n.function_name, n.line
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  WHERE o.opcode = 'while'
),
-- JAX puts the arrays of a concatenation into one that joins its result.
joined_calls AS (
  SELECT o.pair, o.operation, n.file_name, n.function_name
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  SEMI JOIN (
    SELECT pair, operation FROM first_unmatched WHERE opcode = 'concatenate'
  ) AS u USING (pair, operation)
  WHERE o.opcode <> 'concatenate'
  GROUP BY o.pair, o.operation, n.file_name, n.function_name
  HAVING count_if(o.is_candidate) = count_if(NOT o.is_candidate)
),
starts AS MATERIALIZED (
  SELECT
    u.pair, u.is_candidate, u.instruction_id, u.computation_id, u.opcode,
    u.operation, u.key, u.element_type, u.dims, u.frame_id, u.outer_function,
    n.file_name AS inner_file, n.function_name AS inner_function,
    n.line AS inner_line, s.source_file, s.function_name, s.line,
    bool_and(u.opcode IN ('broadcast', 'reshape', 'transpose'))
      OVER (PARTITION BY u.pair, n.file_name, n.function_name) AS is_of_shapes
  FROM first_unmatched AS u
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
)
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
SEMI JOIN recomputed_functions AS r
  ON r.pair = s.pair
  AND r.outer_function = s.outer_function
  AND r.is_shared = (s.inner_function = s.outer_function)
LEFT JOIN converted AS c
  ON c.pair = s.pair
  AND c.operation = s.operation
  AND c.file_name = s.inner_file
  AND c.function_name = s.inner_function
  AND c.element_type = s.element_type
  AND coalesce(c.dims = s.dims, TRUE)
WHERE CASE
  WHEN s.opcode <> 'convert' THEN TRUE
  WHEN s.is_candidate THEN c.candidate_count <= c.base_count
  ELSE c.base_count <= c.candidate_count
END
UNION
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN computed_kinds AS k USING (pair, opcode, operation, element_type, dims)
ANTI JOIN innermost_calls AS n
  ON n.pair = s.pair
  AND n.is_candidate <> s.is_candidate
  AND n.file_name = s.inner_file
  AND n.function_name = s.inner_function
WHERE k.is_as_often
UNION
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
SEMI JOIN recomputation_changes AS t USING (pair)
SEMI JOIN lines_of_whiles AS o
  ON o.pair = s.pair
  AND o.is_candidate = s.is_candidate
  AND o.file_name = s.inner_file
  AND o.function_name = s.inner_function
  AND o.line = s.inner_line
WHERE s.opcode = 'broadcast'
  -- Or the one more dimension of what is stored there.
  OR s.opcode = 'reshape' AND s.operation = 'broadcast_in_dim'
UNION
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN joined_calls AS j
  ON j.pair = s.pair
  AND j.operation = s.operation
  AND j.file_name = s.inner_file
  AND j.function_name = s.inner_function
WHERE s.opcode = 'concatenate'
UNION
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN constant_edits AS c USING (pair, source_file, function_name)
WHERE s.line = CASE
  WHEN s.is_candidate THEN c.candidate_line ELSE c.base_line
END
UNION
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN output_edits AS o USING (pair, source_file, function_name)
WHERE s.is_candidate
  AND s.line = o.candidate_line
UNION
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN call_sites AS c USING (pair, is_candidate, frame_id)
JOIN loop_changes AS l
  ON l.pair = c.pair
  AND c.file_name IN (l.source_file, l.inner_file)
  AND c.function_name IN (l.function_name, l.inner_function)
  AND (
    NOT (l.has_same_body OR l.is_in_base AND l.is_in_candidate)
    OR c.function_name = s.inner_function
    AND c.file_name = s.inner_file
  )
UNION
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN run_in_loops AS r
  ON r.pair = s.pair
  AND r.is_candidate <> s.is_candidate
  AND r.opcode = s.opcode
  AND coalesce(r.operation = s.operation, TRUE)
  AND r.element_type = s.element_type
  AND r.file_name = s.inner_file
  AND r.function_name = s.inner_function
UNION
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
SEMI JOIN keys_of_loops AS k USING (pair, key, element_type)
UNION
-- JAX computes before a loop what each iteration of a function would.
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN functions_of_loops AS f
  ON f.pair = s.pair
  AND f.is_candidate = s.is_candidate
  AND f.file_name = s.inner_file
  AND f.function_name = s.inner_function
LEFT JOIN keys_of_sides AS k
  ON k.pair = s.pair
  AND k.is_candidate <> s.is_candidate
  AND k.key = s.key
  AND k.element_type = s.element_type
WHERE f.is_of_one
  OR k.key IS NOT NULL
UNION
-- All its steps at once have one more dimension.
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN functions_of_loops AS f
  ON f.pair = s.pair
  AND f.is_candidate <> s.is_candidate
  AND f.file_name = s.inner_file
  AND f.function_name = s.inner_function
WHERE s.is_of_shapes
UNION
-- A loop that is unrolled in part runs on both sides what is no edit.
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
JOIN computations_in_loops AS b USING (pair, is_candidate, computation_id)
LEFT JOIN (
  SELECT DISTINCT
    o.pair, o.is_candidate, o.opcode, o.operation, o.element_type, n.file_name,
    n.function_name, CASE WHEN g.has_same_sizes THEN o.dims END AS dims
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  JOIN argument_agreement AS g USING (pair)
) AS o
  ON o.pair = s.pair
  AND o.is_candidate <> s.is_candidate
  AND o.opcode = s.opcode
  AND o.operation = s.operation
  AND o.element_type = s.element_type
  AND coalesce(o.dims = s.dims, TRUE)
  AND o.file_name = s.inner_file
  AND o.function_name = s.inner_function
WHERE NOT b.is_on_both_sides
  OR o.pair IS NOT NULL
