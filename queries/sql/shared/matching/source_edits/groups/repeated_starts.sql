-- step: Starts that only repeat what a function does which nobody edited, with
--   the line of the edited function that reads them first. JAX traces a
--   function of its own, such as jax.nn.sigmoid, once for all calls with one
--   shape, and gives all of them the line of the first.
-- grain: pair, side, instruction
WITH RECURSIVE repeated AS MATERIALIZED (
  SELECT u.pair, u.is_candidate, u.instruction_id
  FROM first_unmatched AS u
  JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
  JOIN key_counts AS k USING (pair, key)
  SEMI JOIN untouched_functions AS f
    ON f.pair = s.pair
    AND f.file_name = s.source_file
    AND f.function_name = s.function_name
  WHERE NOT u.is_backward
    AND u.opcode <> 'convert'
    AND CASE
      WHEN u.is_candidate THEN k.base_count BETWEEN 1 AND k.candidate_count - 1
      ELSE k.candidate_count BETWEEN 1 AND k.base_count - 1
    END
),
edited_lines AS MATERIALIZED (
  SELECT
    u.pair, u.is_candidate, u.instruction_id, n.file_name, n.function_name,
    n.line
  FROM unmatched_operations AS u
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  SEMI JOIN edited_functions AS e
    ON e.pair = n.pair
    AND e.file_name = n.file_name
    AND e.function_name = n.function_name
  WHERE NOT u.is_backward
),
readers AS (
  SELECT
    r.pair, r.is_candidate, r.instruction_id AS start_id, r.instruction_id,
    0 AS distance
  FROM repeated AS r
  UNION
  SELECT
    r.pair, r.is_candidate, r.start_id, e.instruction_id, r.distance + 1
  FROM readers AS r
  JOIN operand_edges AS e
    ON e.pair = r.pair
    AND e.is_candidate = r.is_candidate
    AND e.operand_id = r.instruction_id
  SEMI JOIN unmatched_operations AS u
    ON u.pair = e.pair
    AND u.is_candidate = e.is_candidate
    AND u.instruction_id = e.instruction_id
  ANTI JOIN edited_lines AS l
    ON l.pair = r.pair
    AND l.is_candidate = r.is_candidate
    AND l.instruction_id = r.instruction_id
  WHERE r.distance < 8
)
SELECT
  r.pair, r.is_candidate, r.start_id AS instruction_id,
  arg_min(l.file_name, (r.distance, r.instruction_id)) AS file_name,
  arg_min(l.function_name, (r.distance, r.instruction_id)) AS function_name,
  arg_min(l.line, (r.distance, r.instruction_id)) AS line
FROM readers AS r
JOIN edited_lines AS l USING (pair, is_candidate, instruction_id)
GROUP BY r.pair, r.is_candidate, r.start_id
