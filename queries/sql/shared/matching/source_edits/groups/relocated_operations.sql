-- step: Operations of the forward pass that a side has no more often than the
--   other, by name and shape: where a function has more, or fewer, they moved.
--   base_sharding and candidate_sharding: the only one that they have on that
--   side alone; NULL unless there is one on each.
-- grain: pair, side, operation, shape
WITH counted AS (
  SELECT
    pair, operation, shape, count_if(NOT is_candidate) AS base_count,
    count_if(is_candidate) AS candidate_count,
    list_distinct(list(sharding) FILTER (WHERE NOT is_candidate))
      AS base_shardings,
    list_distinct(list(sharding) FILTER (WHERE is_candidate))
      AS candidate_shardings
  FROM operations
  WHERE NOT is_backward
    AND NOT is_recomputed
  GROUP BY pair, operation, shape
  HAVING least(base_count, candidate_count) > 0
)
SELECT
  c.pair, s.is_candidate, c.operation, c.shape,
  CASE WHEN c.is_one_sharding THEN c.lost_shardings[1] END AS base_sharding,
  CASE WHEN c.is_one_sharding THEN c.new_shardings[1] END
    AS candidate_sharding
FROM (
  SELECT
    *,
    list_filter(
      base_shardings, lambda x: NOT list_contains(candidate_shardings, x)
    ) AS lost_shardings,
    list_filter(
      candidate_shardings, lambda x: NOT list_contains(base_shardings, x)
    ) AS new_shardings,
    len(lost_shardings) = 1 AND len(new_shardings) = 1 AS is_one_sharding
  FROM counted
) AS c
CROSS JOIN (VALUES (FALSE), (TRUE)) AS s(is_candidate)
WHERE CASE
  WHEN s.is_candidate THEN c.candidate_count <= c.base_count
  ELSE c.base_count <= c.candidate_count
END
