-- step: Calls of a function of which almost nothing matches, beside another
--   call of it in the same function of which much does: one side alone has
--   them.
-- grain: pair, side, site
WITH frame_counts AS (
  SELECT
    s.pair, s.is_candidate, s.frame_id, count(*) AS operation_count,
    count(u.instruction_id) AS uneven_count
  FROM signed_operations AS s
  LEFT JOIN uneven_operations AS u
    USING (pair, is_candidate, instruction_id)
  GROUP BY s.pair, s.is_candidate, s.frame_id
),
calls AS (
  SELECT
    c.pair, c.is_candidate, c.site, c.frame_id, c.file_name, c.function_name,
    lag({'file_name': c.file_name, 'function_name': c.function_name}) OVER (
      PARTITION BY c.pair, c.is_candidate, c.frame_id ORDER BY c.distance
    ) AS callee
  FROM call_sites AS c
),
counted AS (
  SELECT
    pair, is_candidate, site, file_name, function_name, callee,
    sum(operation_count) AS operation_count,
    1 - sum(uneven_count) / sum(operation_count) AS matched_share
  FROM (
    SELECT DISTINCT c.*, n.operation_count, n.uneven_count
    FROM calls AS c
    JOIN frame_counts AS n USING (pair, is_candidate, frame_id)
    WHERE c.callee IS NOT NULL
  )
  GROUP BY pair, is_candidate, site, file_name, function_name, callee
)
SELECT DISTINCT a.pair, a.is_candidate, a.site
FROM counted AS a
JOIN counted AS k
  USING (pair, is_candidate, file_name, function_name, callee)
WHERE a.site <> k.site
  AND a.matched_share < 0.1
  AND k.matched_share > 0.3
  AND k.operation_count >= a.operation_count
