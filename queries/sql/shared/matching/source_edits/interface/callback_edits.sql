-- step: Calls back to Python that one side has more often.
-- grain: pair, edited line
WITH callbacks AS (
  SELECT
    o.*, row_number() OVER (
      PARTITION BY o.pair, o.is_candidate, o.core, o.user_function
      ORDER BY o.instruction_id
    ) AS copy_number,
    count(*) OVER (
      PARTITION BY o.pair, o.core, o.user_function, o.is_candidate
    ) AS side_count,
    count(*) OVER (PARTITION BY o.pair, o.core, o.user_function) AS both_count
  FROM operations AS o
  WHERE o.is_callback
)
SELECT
  k.pair, 'callback' AS change,
  min(k.operation) FILTER (WHERE NOT k.is_candidate) AS base_text,
  min(k.operation) FILTER (WHERE k.is_candidate) AS candidate_text,
  min(k.operation) AS subject, count(*) AS operation_count,
  CAST(0 AS BIGINT) AS delta_bytes, s.source_file, s.function_name,
  max(s.line) FILTER (WHERE NOT k.is_candidate) AS base_line,
  max(s.line) FILTER (WHERE k.is_candidate) AS candidate_line,
  list(DISTINCT k.op_paths) FILTER (WHERE NOT k.is_candidate) AS base_paths,
  list(DISTINCT k.op_paths) FILTER (WHERE k.is_candidate) AS candidate_paths
FROM callbacks AS k
LEFT JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
WHERE k.copy_number > k.both_count - k.side_count
GROUP BY k.pair, s.source_file, s.function_name, s.line
