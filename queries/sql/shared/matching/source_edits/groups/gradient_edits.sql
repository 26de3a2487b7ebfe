-- step: Gradients that one side alone computes: of nothing but the backward
--   pass, and of what an optimiser makes of it, has it more, in pairs without
--   another checkpoint or loop; or it is one of gradient_sides. The line is
--   the innermost call that leads to most of it.
-- grain: pair
WITH surplus AS MATERIALIZED (
  SELECT
    u.pair, u.is_candidate, o.instruction_id, o.frame_id, o.is_backward,
    o.is_recomputed, o.is_located, o.opcode, o.user_function, o.op_paths,
    -- What an optimiser computes is not differentiated.
    NOT contains(o.op_name, 'jvp(')
      AND o.opcode NOT IN ('dot', 'convolution') AS is_of_update
  FROM unmatched_operations AS u
  JOIN operations AS o USING (pair, is_candidate, instruction_id)
  WHERE o.may_start
    AND o.operation <> 'add_any'
    AND o.op_name <> ''
),
sides AS (
  SELECT pair, any_value(is_candidate) AS is_candidate
  FROM surplus
  ANTI JOIN recomputation_changes USING (pair)
  ANTI JOIN unmatched_loops USING (pair)
  ANTI JOIN gradient_sides USING (pair)
  GROUP BY pair
  HAVING count(DISTINCT is_candidate) = 1
    AND bool_and(is_backward OR is_of_update)
    AND bool_or(is_backward AND is_located)
    AND count_if(is_located) >= 3
    AND count_if(opcode IN ('dot', 'convolution')) > 0
  UNION ALL
  SELECT d.pair, d.is_candidate
  FROM gradient_sides AS d
  ANTI JOIN loop_edits AS l
    ON l.pair = d.pair
    AND 'no gradients' IN (l.base_text, l.candidate_text)
),
chosen AS MATERIALIZED (
  SELECT s.*
  FROM surplus AS s
  SEMI JOIN sides AS d USING (pair, is_candidate)
  WHERE s.is_located
    AND s.is_backward
    AND NOT s.is_recomputed
),
sites AS (
  SELECT
    c.pair, s.file_name, s.function_name, s.line,
    count(*) AS operation_count, median(s.distance) AS distance
  FROM chosen AS c
  JOIN call_sites AS s USING (pair, is_candidate, frame_id)
  GROUP BY c.pair, s.file_name, s.function_name, s.line
),
counts AS (
  SELECT
    c.pair, any_value(c.is_candidate) AS is_candidate,
    count(*) AS operation_count, mode(c.user_function) AS user_function,
    list(DISTINCT c.op_paths) FILTER (WHERE $with_paths) AS op_paths
  FROM chosen AS c
  GROUP BY c.pair
)
SELECT
  c.pair, 'gradients' AS change,
  CASE WHEN NOT c.is_candidate THEN CAST(c.operation_count AS VARCHAR) END
    AS base_text,
  CASE WHEN c.is_candidate THEN CAST(c.operation_count AS VARCHAR) END
    AS candidate_text,
  c.user_function AS subject, c.operation_count,
  s.file_name AS source_file, s.function_name,
  CASE WHEN NOT c.is_candidate THEN s.line END AS base_line,
  CASE WHEN c.is_candidate THEN s.line END AS candidate_line,
  CASE WHEN NOT c.is_candidate THEN c.op_paths END AS base_paths,
  CASE WHEN c.is_candidate THEN c.op_paths END AS candidate_paths
FROM counts AS c
LEFT JOIN sites AS s
  ON s.pair = c.pair
  AND s.operation_count > 0.5 * c.operation_count
QUALIFY row_number() OVER (
  PARTITION BY c.pair ORDER BY s.distance, s.operation_count DESC, s.line
) = 1
