-- step: Operations that give arrays, loops and custom calls, each with the
--   key that it is recognised by on the other side: its path, opcode and the
--   function of the user that it comes from; a call of a jitted function of a
--   library also by that. outer_function: the innermost function of the user
--   that both sides have. is_located: it comes from a line of the user;
--   may_start: it computes something, and is no scalar; is_stacked: it writes
--   what a loop stacks; op_paths: its paths after those of the calls that
--   lead to it, one per line.
-- grain: pair, side, instruction
WITH RECURSIVE shared_functions AS (
  SELECT i.pair, i.function_name
  FROM (SELECT DISTINCT pair, is_candidate, function_name FROM innermost_calls)
    AS i
  GROUP BY i.pair, i.function_name
  HAVING count(*) = 2
),
outer_calls AS (
  SELECT
    c.pair, c.is_candidate, c.frame_id,
    arg_min(c.function_name, c.distance) AS function_name
  FROM call_sites AS c
  SEMI JOIN shared_functions AS s USING (pair, function_name)
  GROUP BY c.pair, c.is_candidate, c.frame_id
),
-- In JAX, fft is a function that calls one; so does its transpose.
transforms AS (
  SELECT
    i.pair, i.is_candidate, i.instruction_id, i.computation_id,
    string_split(f.op_name, '/')[-1] AS operation
  FROM program_instructions AS i
  JOIN forms AS f USING (form_id)
  WHERE f.opcode = 'fft'
  UNION
  SELECT
    i.pair, i.is_candidate, i.instruction_id, i.computation_id, t.operation
  FROM transforms AS t
  JOIN program_calls AS c
    ON c.pair = t.pair
    AND c.is_candidate = t.is_candidate
    AND c.called_id = t.computation_id
  JOIN program_instructions AS i
    ON i.pair = c.pair
    AND i.is_candidate = c.is_candidate
    AND i.instruction_id = c.instruction_id
  JOIN forms AS f USING (form_id)
  WHERE regexp_matches(f.op_name, 'jit\(\w*fft\w*\)+$')
)
SELECT
  i.pair, i.is_candidate, i.instruction_id, i.computation_id, f.opcode,
  f.op_name,
  CASE WHEN f.op_name <> '' THEN array_to_string(
    list_transform(q.call_paths, lambda p: p || f.op_name), chr(10)
  ) END AS op_paths,
  -- jvp(jit(_one_hot)) is one_hot, and reduce_sum[axes=(0,)] reduce_sum.
  coalesce(t.operation, ltrim(
    regexp_replace(
      string_split(
        regexp_replace(f.op_name, '\[\w+=.*?\](/|$)', '\1', 'g'), '/'
      )[-1], '\w+\(|\)', '', 'g'
    ), '_'
  )) AS operation, f.element_type, f.dims, f.shape, f.sharding,
  coalesce(f.logical_bytes, 0) AS size_bytes, l.frame_id,
  coalesce(l.is_of_call, FALSE) AS is_of_call, c.core,
  f.opcode = 'custom-call' AND coalesce(
    contains(lower(f.target), 'callback'), FALSE
  ) AS is_callback,
  coalesce(contains(f.op_name, 'rematted_computation'), FALSE)
    AS is_recomputed,
  coalesce(contains(f.op_name, 'transpose('), FALSE)
    OR w.computation_id IS NULL AS is_backward,
  u.function_name AS user_function, r.function_name AS outer_function,
  n.function_name IS NOT NULL AS is_located,
  hash(
    c.core, f.opcode, u.function_name, n.function_name IS NULL, t.operation,
    CASE
      WHEN f.opcode = 'call'
        AND (i.pair, regexp_extract(f.op_name, '\bjit\((\w+)\)+$', 1)) NOT IN (
          SELECT (m.pair, m.function_name) FROM user_functions AS m
        )
        THEN regexp_extract(f.op_name, '\bjit\((\w+)\)+$', 1)
    END
  ) AS key,
  f.opcode NOT IN (
    'parameter', 'get-tuple-element', 'tuple', 'bitcast', 'constant', 'while',
    'opt-barrier'
  ) AND f.dims <> '[]' AS may_start,
  coalesce(
    regexp_matches(
      f.op_name, '(^|/)while/body/(jit\()?dynamic_update_[a-z_]+\)?$'
    ), FALSE
  ) AS is_stacked
FROM program_instructions AS i
JOIN forms AS f USING (form_id)
LEFT JOIN instruction_frames AS l USING (pair, is_candidate, instruction_id)
LEFT JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
LEFT JOIN shared_functions AS u
  ON u.pair = i.pair
  AND u.function_name = n.function_name
LEFT JOIN outer_calls AS r USING (pair, is_candidate, frame_id)
LEFT JOIN forward_computations AS w
  ON w.pair = i.pair
  AND w.is_candidate = i.is_candidate
  AND w.computation_id = i.computation_id
LEFT JOIN call_paths AS q
  ON q.pair = i.pair
  AND q.is_candidate = i.is_candidate
  AND q.computation_id = i.computation_id
LEFT JOIN transforms AS t
  ON t.pair = i.pair
  AND t.is_candidate = i.is_candidate
  AND t.instruction_id = i.instruction_id
LEFT JOIN core_paths AS c
  ON c.pair = i.pair
  AND c.is_candidate = i.is_candidate
  AND c.op_name = f.op_name
WHERE f.dims <> '[]'
  OR f.opcode IN ('while', 'custom-call')
