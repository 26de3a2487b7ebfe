-- step: The most frequent change of a floating-point type in a group: of an
--   operation that both sides have with the same dimensions, or by a
--   conversion that only one side has. Elsewhere they are other arrays, such
--   as the stacks that a loop begins with. new_line and lost_line: those of
--   the first such conversion of the candidate and of the base.
-- grain: pair, file, function
WITH keys AS (
  SELECT
    pair, source_file, function_name,
    min(element_type) FILTER (WHERE NOT is_candidate) AS base_type,
    min(element_type) FILTER (WHERE is_candidate) AS candidate_type,
    least(count_if(NOT is_candidate), count_if(is_candidate))
      AS operation_count
  FROM grouped_operations
  GROUP BY
    pair, source_file, function_name, key,
    regexp_extract(shape, '\[.*')
),
retyped AS (
  SELECT * FROM keys WHERE base_type <> candidate_type
  UNION ALL BY NAME
  SELECT
    g.pair, g.source_file, g.function_name,
    CASE WHEN g.is_candidate THEN o.element_type ELSE g.element_type END
      AS base_type,
    CASE WHEN g.is_candidate THEN g.element_type ELSE o.element_type END
      AS candidate_type, 1 AS operation_count, g.is_candidate, g.line,
    g.instruction_id
  FROM grouped_operations AS g
  JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  JOIN operations AS o
    ON o.pair = e.pair
    AND o.is_candidate = e.is_candidate
    AND o.instruction_id = e.operand_id
  WHERE g.is_start
    AND g.opcode = 'convert'
    AND g.element_type <> o.element_type
)
SELECT
  pair, source_file, function_name, base_type, candidate_type,
  sum(operation_count) AS operation_count,
  arg_min(line, instruction_id) FILTER (WHERE is_candidate) AS new_line,
  arg_min(line, instruction_id) FILTER (WHERE NOT is_candidate) AS lost_line
FROM retyped
WHERE regexp_full_match(base_type, 'b?f\d+.*')
  AND regexp_full_match(candidate_type, 'b?f\d+.*')
GROUP BY pair, source_file, function_name, base_type, candidate_type
QUALIFY row_number() OVER (
  PARTITION BY pair, source_file, function_name
  ORDER BY sum(operation_count) DESC, base_type, candidate_type
) = 1
