-- step: The most frequent change of a floating-point type in a group: of an
--   operation that both sides have with the same dimensions, of three or more
--   that both have with as many elements, or by a conversion that only one
--   side has, unless all that reads it is new, too, or the group has twice as
--   many other operations on one side. Elsewhere they are other arrays, such
--   as the stacks that a loop begins with.
--   first_call: that of the first operation of the candidate that has another
--   type. new_line and lost_line: those of the first such conversion of the
--   candidate and of the base, no later than the first operation of another
--   type. kept_line: that in the candidate of what the lost one
--   converted.
-- grain: pair, file, function
WITH uneven_groups AS (
  SELECT
    pair, source_file, function_name,
    count_if(NOT is_candidate) AS base_count,
    count_if(is_candidate) AS candidate_count
  FROM grouped_operations
  -- A checkpoint makes the one or the other many.
  ANTI JOIN recomputation_changes AS t USING (pair)
  WHERE opcode <> 'convert'
  GROUP BY pair, source_file, function_name
  HAVING greatest(base_count, candidate_count)
    > 2 * least(base_count, candidate_count) + 2
),
-- What is compared: operations of one key and shape (of as many dimensions,
-- where arguments have other sizes), and what another function computes, with
-- as many elements.
likenesses AS (
  SELECT
    o.*, FALSE AS is_rewritten,
    hash(
      o.key,
      CASE WHEN coalesce(g.has_same_sizes, TRUE)
        THEN regexp_extract(o.shape, '\[.*')
        ELSE CAST(len(string_split(o.dims, ',')) AS VARCHAR) END
    ) AS likeness
  FROM grouped_operations AS o
  LEFT JOIN argument_agreement AS g USING (pair)
  UNION ALL
  SELECT
    *, TRUE, hash(operation, list_product(CAST(
      string_split(nullif(trim(dims, '[]'), ''), ',') AS DOUBLE[]
    )))
  FROM grouped_operations
  WHERE NOT is_backward
    AND opcode IN (
      'dot', 'convolution', 'exponential', 'divide', 'subtract', 'log',
      'tanh', 'rsqrt', 'maximum'
    )
),
keys AS (
  SELECT
    pair, source_file, function_name, is_rewritten,
    min(element_type) FILTER (WHERE NOT is_candidate) AS base_type,
    min(element_type) FILTER (WHERE is_candidate) AS candidate_type,
    list_has_any(
      list(element_type) FILTER (WHERE NOT is_candidate),
      list(element_type) FILTER (WHERE is_candidate)
    ) AS is_on_both_sides,
    least(count_if(NOT is_candidate), count_if(is_candidate))
      AS operation_count,
    min(instruction_id) FILTER (WHERE is_candidate AND NOT is_backward)
      AS first_id,
    arg_min(frame_id, instruction_id) FILTER (
      WHERE is_candidate AND NOT is_backward
    ) AS first_frame_id
  FROM likenesses
  GROUP BY pair, source_file, function_name, is_rewritten, likeness
  HAVING base_type <> candidate_type
    AND NOT is_on_both_sides
),
-- Conversions that the other side has as often: alone they are no other type.
kept_conversions AS (
  SELECT
    g.pair, g.key, g.element_type, o.element_type AS given_type, g.size_bytes
  FROM grouped_operations AS g
  JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  JOIN operations AS o
    ON o.pair = e.pair
    AND o.is_candidate = e.is_candidate
    AND o.instruction_id = e.operand_id
  WHERE g.opcode = 'convert'
  GROUP BY g.pair, g.key, g.element_type, o.element_type, g.size_bytes
  HAVING count_if(g.is_candidate) = count_if(NOT g.is_candidate)
),
-- Conversions that only operations read which the other side lacks.
of_new_operations AS (
  SELECT g.pair, g.is_candidate, g.instruction_id
  FROM grouped_operations AS g
  JOIN operand_edges AS e
    ON e.pair = g.pair
    AND e.is_candidate = g.is_candidate
    AND e.operand_id = g.instruction_id
  LEFT JOIN unmatched_operations AS u
    ON u.pair = e.pair
    AND u.is_candidate = e.is_candidate
    AND u.instruction_id = e.instruction_id
  LEFT JOIN (
    SELECT DISTINCT pair, is_candidate, key FROM unmatched_operations
  ) AS o
    ON o.pair = u.pair
    AND o.is_candidate <> u.is_candidate
    AND o.key = u.key
  WHERE g.is_start
    AND g.opcode = 'convert'
  GROUP BY g.pair, g.is_candidate, g.instruction_id
  HAVING bool_and(u.instruction_id IS NOT NULL AND o.key IS NULL)
),
converted_stacks AS (
  SELECT DISTINCT d.pair, d.is_candidate, d.key, d.element_type
  FROM grouped_operations AS d
  JOIN (
    SELECT
      pair,
      unnest(string_split(coalesce(candidate_stacks, base_stacks), ', '))
        AS stack
    FROM group_stacks
  ) AS w
    ON w.pair = d.pair
    AND regexp_extract(w.stack, '\[.*\]') = d.dims
  WHERE d.opcode = 'convert'
),
retyped AS (
  SELECT * EXCLUDE (is_rewritten)
  FROM keys
  -- A function was rewritten where no operation of the same key has another
  -- type, but three of the same name have.
  QUALIFY NOT is_rewritten
    OR bool_and(is_rewritten) OVER (
      PARTITION BY pair, source_file, function_name
    )
    AND count(*) OVER (
      PARTITION BY
        pair, source_file, function_name, base_type, candidate_type
    ) >= 3
  UNION ALL BY NAME
  SELECT
    g.pair, g.source_file, g.function_name,
    CASE WHEN g.is_candidate THEN o.element_type ELSE g.element_type END
      AS base_type,
    CASE WHEN g.is_candidate THEN g.element_type ELSE o.element_type END
      AS candidate_type, 1 AS operation_count, g.is_candidate, g.line,
    g.instruction_id, CASE WHEN NOT g.is_candidate THEN o.key END AS kept_key,
    k.pair IS NOT NULL AS is_kept
  FROM grouped_operations AS g
  JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  JOIN operations AS o
    ON o.pair = e.pair
    AND o.is_candidate = e.is_candidate
    AND o.instruction_id = e.operand_id
  ANTI JOIN of_new_operations AS n
    ON n.pair = g.pair
    AND n.is_candidate = g.is_candidate
    AND n.instruction_id = g.instruction_id
  ANTI JOIN uneven_groups AS u
    ON u.pair = g.pair
    AND u.source_file = g.source_file
    AND u.function_name = g.function_name
  -- The other side converts a stack there.
  ANTI JOIN converted_stacks AS d
    ON d.pair = g.pair
    AND d.is_candidate <> g.is_candidate
    AND d.key = g.key
    AND d.element_type = g.element_type
  -- Or another array of as many elements, such as the transposed weight.
  ANTI JOIN grouped_operations AS s
    ON s.pair = g.pair
    AND s.is_candidate <> g.is_candidate
    AND s.key = g.key
    AND s.element_type = g.element_type
    AND s.size_bytes = g.size_bytes
    AND s.dims <> g.dims
  LEFT JOIN kept_conversions AS k
    ON k.pair = g.pair
    AND k.key = g.key
    AND k.element_type = g.element_type
    AND k.given_type = o.element_type
    AND k.size_bytes = g.size_bytes
  WHERE g.is_start
    AND g.opcode = 'convert'
    AND g.element_type <> o.element_type
),
-- A conversion that is lost or new after the first operation of another type,
-- at a later line, follows from that.
placed AS (
  SELECT
    r.*,
    coalesce(
      p.place <= min(f.place) OVER of_type
      OR r.line <= min(n.line) OVER of_type, TRUE
    ) AS is_first
  FROM retyped AS r
  LEFT JOIN innermost_calls AS n
    ON n.pair = r.pair
    AND n.is_candidate
    AND n.frame_id = r.first_frame_id
    AND n.function_name = r.function_name
  LEFT JOIN operation_places AS f
    ON f.pair = r.pair
    AND f.is_candidate
    AND f.instruction_id = r.first_id
  LEFT JOIN operation_places AS p
    ON p.pair = r.pair
    AND p.is_candidate = r.is_candidate
    AND p.instruction_id = r.instruction_id
  WINDOW of_type AS (
    PARTITION BY
      r.pair, r.source_file, r.function_name, r.base_type, r.candidate_type
  )
)
SELECT
  r.pair, r.source_file, r.function_name, r.base_type, r.candidate_type,
  sum(r.operation_count) AS operation_count,
  arg_min(r.line, r.instruction_id) FILTER (
    WHERE r.is_candidate AND r.is_first
  ) AS new_line,
  arg_min(r.line, r.instruction_id) FILTER (
    WHERE NOT r.is_candidate AND r.is_first
  ) AS lost_line,
  arg_min(k.line, r.instruction_id) FILTER (
    WHERE NOT r.is_candidate AND r.is_first
  ) AS kept_line,
  arg_min(
    struct_pack(
      file_name := n.file_name, function_name := n.function_name,
      line := n.line, element_type := r.candidate_type
    ), r.first_id
  ) AS first_call
FROM placed AS r
LEFT JOIN innermost_calls AS n
  ON n.pair = r.pair
  AND n.is_candidate
  AND n.frame_id = r.first_frame_id
LEFT JOIN (
  SELECT
    o.pair, o.key, n.file_name, n.function_name,
    arg_min(n.line, o.instruction_id) AS line
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  WHERE o.is_candidate
  GROUP BY o.pair, o.key, n.file_name, n.function_name
) AS k
  ON k.pair = r.pair
  AND k.key = r.kept_key
  AND k.file_name = r.source_file
  AND k.function_name = r.function_name
WHERE regexp_full_match(r.base_type, 'b?f\d+.*')
  AND regexp_full_match(r.candidate_type, 'b?f\d+.*')
GROUP BY
  r.pair, r.source_file, r.function_name, r.base_type, r.candidate_type
-- Gradients alone have another type where other operations do.
HAVING count(r.first_id) > 0
  OR count(r.instruction_id) FILTER (WHERE NOT r.is_kept) > 0
QUALIFY row_number() OVER (
  PARTITION BY r.pair, r.source_file, r.function_name
  ORDER BY sum(r.operation_count) DESC, r.base_type, r.candidate_type
) = 1
