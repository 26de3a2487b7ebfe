-- step: Edits of loops. Another number of trips is none where the arguments
--   have other sizes: it follows from them. Where the loop is gone and its
--   operations are in the program that it was in, it was unrolled.
-- grain: pair, edit
WITH RECURSIVE nested_calls AS MATERIALIZED (
  SELECT DISTINCT i.pair, i.is_candidate, i.computation_id, c.called_id
  FROM program_instructions AS i
  JOIN program_calls AS c USING (pair, is_candidate, instruction_id)
  WHERE $with_paths
),
computations_in_loops AS (
  SELECT
    l.pair, l.is_candidate, n.file_name AS inner_file,
    n.function_name AS inner_function, c.called_id AS computation_id
  FROM unmatched_loops AS l
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  JOIN program_calls AS c USING (pair, is_candidate, instruction_id)
  WHERE $with_paths
  UNION
  SELECT b.pair, b.is_candidate, b.inner_file, b.inner_function, c.called_id
  FROM computations_in_loops AS b
  JOIN nested_calls AS c USING (pair, is_candidate, computation_id)
),
-- Paths of what runs in a loop, and of what is like it on the side without.
loop_paths AS (
  SELECT
    k.pair, k.inner_file, k.inner_function,
    list(DISTINCT o.op_name) FILTER (WHERE NOT o.is_candidate) AS base_paths,
    list(DISTINCT o.op_name) FILTER (WHERE o.is_candidate) AS candidate_paths
  FROM (
    SELECT DISTINCT b.pair, b.inner_file, b.inner_function, o.key
    FROM computations_in_loops AS b
    JOIN operations AS o USING (pair, is_candidate, computation_id)
    WHERE o.core IS NOT NULL
      AND o.is_located
  ) AS k
  JOIN operations AS o USING (pair, key)
  GROUP BY k.pair, k.inner_file, k.inner_function
)
SELECT
  l.pair, 'loop' AS change,
  CASE
    WHEN l.is_in_base THEN coalesce(CAST(l.base_trips AS VARCHAR), '?')
  END AS base_text,
  CASE
    WHEN l.is_in_candidate
      THEN coalesce(CAST(l.candidate_trips AS VARCHAR), '?')
    WHEN EXISTS (
      SELECT 1
      FROM unmatched_operations AS u
      JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
      WHERE u.pair = l.pair
        AND u.is_candidate
        AND u.opcode IN ('slice', 'call', 'dynamic-slice', 'concatenate')
        AND s.source_file = l.inner_file
        AND s.function_name = l.inner_function
    ) THEN 'unrolled'
  END AS candidate_text,
  nullif(l.inner_function, '') AS subject, 1 AS operation_count,
  l.source_file, l.function_name, l.base_line, l.candidate_line,
  p.base_paths, p.candidate_paths
FROM loop_changes AS l
JOIN argument_agreement AS g USING (pair)
LEFT JOIN loop_paths AS p USING (pair, inner_file, inner_function)
WHERE g.has_same_sizes
  OR NOT (l.is_in_base AND l.is_in_candidate)
QUALIFY row_number() OVER (
  PARTITION BY l.pair, l.function_name, l.base_line, l.candidate_line
  ORDER BY l.is_backward, l.loop_number
) = 1
