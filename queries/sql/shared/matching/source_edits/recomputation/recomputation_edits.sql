-- step: Edits of checkpoints, each at the innermost call of the user that
--   leads to nearly all that is no longer or newly recomputed. JAX keeps the
--   innermost ten frames: calls further out are those of the loops around it.
-- grain: pair
WITH RECURSIVE changed_keys AS MATERIALIZED (
  SELECT pair, key FROM recomputation_counts WHERE has_changed
),
affected AS (
  SELECT
    o.pair, o.is_candidate, o.instruction_id, o.computation_id, o.frame_id,
    o.is_recomputed OR o.opcode = 'opt-barrier' AS is_marked,
    bool_or(o.is_recomputed OR o.opcode = 'opt-barrier')
      OVER (PARTITION BY o.pair, o.is_candidate) AS is_any_marked
  FROM operations AS o
  SEMI JOIN recomputation_changes AS t USING (pair)
  LEFT JOIN changed_keys AS k USING (pair, key)
  WHERE o.is_located
    AND (k.key IS NOT NULL OR o.opcode = 'opt-barrier')
),
marked AS MATERIALIZED (
  SELECT * FROM affected WHERE is_marked = is_any_marked
),
callers AS MATERIALIZED (
  SELECT DISTINCT
    i.pair, i.is_candidate, c.called_id AS computation_id,
    i.computation_id AS caller_id, l.frame_id
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  LEFT JOIN instruction_frames AS l USING (pair, is_candidate, instruction_id)
  SEMI JOIN recomputation_changes AS t USING (pair)
),
led AS (
  SELECT DISTINCT
    pair, is_candidate, computation_id, computation_id AS caller_id,
    CAST(NULL AS BIGINT) AS frame_id
  FROM marked
  UNION
  SELECT l.pair, l.is_candidate, l.computation_id, c.caller_id, c.frame_id
  FROM led AS l
  JOIN callers AS c
    ON c.pair = l.pair
    AND c.is_candidate = l.is_candidate
    AND c.computation_id = l.caller_id
),
leading_frames AS (
  SELECT pair, is_candidate, instruction_id, frame_id, 0 AS depth
  FROM marked
  UNION ALL
  SELECT m.pair, m.is_candidate, m.instruction_id, l.frame_id, 100 AS depth
  FROM marked AS m
  JOIN led AS l USING (pair, is_candidate, computation_id)
),
leading_sites AS (
  SELECT
    f.pair, f.is_candidate, f.instruction_id, c.site, c.file_name,
    c.function_name, c.line, min(f.depth + c.distance) AS distance
  FROM leading_frames AS f
  JOIN call_sites AS c USING (pair, is_candidate, frame_id)
  GROUP BY ALL
),
sites AS (
  SELECT
    pair, is_candidate, site, file_name, function_name, line,
    avg(distance) AS distance, count(*) AS operation_count
  FROM leading_sites
  GROUP BY pair, is_candidate, site, file_name, function_name, line
),
checkpoint_sites AS MATERIALIZED (
  SELECT s.pair, s.is_candidate, s.file_name, s.function_name, s.line
  FROM sites AS s
  JOIN (
    SELECT pair, is_candidate, max(operation_count) AS most
    FROM sites
    GROUP BY ALL
  ) AS m USING (pair, is_candidate)
  WHERE s.operation_count >= 0.9 * m.most
  QUALIFY row_number() OVER (
    PARTITION BY s.pair, s.is_candidate
    ORDER BY s.distance, s.operation_count DESC, s.site
  ) = 1
),
paths AS (
  SELECT
    o.pair,
    list(DISTINCT o.op_paths) FILTER (WHERE NOT o.is_candidate) AS base_paths,
    list(DISTINCT o.op_paths) FILTER (WHERE o.is_candidate) AS candidate_paths
  FROM operations AS o
  JOIN changed_keys AS k USING (pair, key)
  WHERE $with_paths
  GROUP BY o.pair
)
SELECT
  t.pair, 'recomputation' AS change,
  CAST(t.base_recomputed AS VARCHAR) AS base_text,
  CAST(t.candidate_recomputed AS VARCHAR) AS candidate_text,
  CASE
    WHEN t.candidate_recomputed > t.base_recomputed
      THEN CASE WHEN t.more_barriers > 0 THEN 'more' ELSE 'saves less' END
    WHEN t.is_kept
      THEN CASE WHEN t.more_barriers < 0 THEN 'fewer' ELSE 'saves more' END
    ELSE 'removed'
  END AS subject,
  CAST(abs(t.candidate_recomputed - t.base_recomputed) AS BIGINT)
    AS operation_count,
  coalesce(c.file_name, b.file_name) AS source_file,
  coalesce(c.function_name, b.function_name) AS function_name,
  b.line AS base_line, c.line AS candidate_line, p.base_paths,
  p.candidate_paths
FROM recomputation_changes AS t
LEFT JOIN paths AS p ON p.pair = t.pair
LEFT JOIN checkpoint_sites AS b
  ON b.pair = t.pair
  AND NOT b.is_candidate
LEFT JOIN checkpoint_sites AS c
  ON c.pair = t.pair
  AND c.is_candidate
