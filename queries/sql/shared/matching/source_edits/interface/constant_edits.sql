-- step: Constants of at least 4 KiB that the other side lacks, at the line
--   that reads them first.
-- grain: pair, edited line
WITH readers AS (
  SELECT
    e.pair, e.is_candidate, e.operand_id AS instruction_id,
    arg_min(r.frame_id, r.instruction_id) AS frame_id
  FROM operand_edges AS e
  JOIN operations AS r USING (pair, is_candidate, instruction_id)
  WHERE r.is_located
  GROUP BY e.pair, e.is_candidate, e.operand_id
),
constants AS (
  SELECT
    o.pair, o.is_candidate, o.shape, o.size_bytes, r.frame_id,
    row_number() OVER (
      PARTITION BY o.pair, o.is_candidate, o.shape ORDER BY o.instruction_id
    ) AS copy_number
  FROM operations AS o
  LEFT JOIN readers AS r USING (pair, is_candidate, instruction_id)
  WHERE o.opcode = 'constant'
    AND o.size_bytes >= 4096
)
SELECT
  c.pair, 'constant' AS change,
  max(c.shape) FILTER (WHERE NOT c.is_candidate) AS base_text,
  max(c.shape) FILTER (WHERE c.is_candidate) AS candidate_text,
  count(*) AS operation_count,
  sum(CASE WHEN c.is_candidate THEN c.size_bytes ELSE -c.size_bytes END)
    AS delta_bytes,
  s.source_file, s.function_name,
  max(s.line) FILTER (WHERE NOT c.is_candidate) AS base_line,
  max(s.line) FILTER (WHERE c.is_candidate) AS candidate_line
FROM constants AS c
ANTI JOIN constants AS o
  ON o.pair = c.pair
  AND o.is_candidate <> c.is_candidate
  AND o.shape = c.shape
  AND o.copy_number = c.copy_number
LEFT JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
GROUP BY c.pair, s.source_file, s.function_name, s.line
