-- step: Starts that belong to another edit: to a checkpoint, constant, loop or
--   output of the same line or function.
-- grain: pair, side, instruction
WITH recomputed_functions AS (
  SELECT DISTINCT o.pair, n.function_name
  FROM operations AS o
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  SEMI JOIN recomputation_changes AS t USING (pair)
  WHERE o.is_recomputed
),
starts AS MATERIALIZED (
  SELECT
    u.pair, u.is_candidate, u.instruction_id, u.opcode, u.frame_id,
    n.function_name AS inner_function, s.source_file, s.function_name, s.line
  FROM first_unmatched AS u
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
)
SELECT s.pair, s.is_candidate, s.instruction_id
FROM starts AS s
SEMI JOIN recomputed_functions AS r
  ON r.pair = s.pair
  AND r.function_name = s.inner_function
WHERE s.opcode <> 'convert'
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
