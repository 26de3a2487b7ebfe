-- step: How many operations of each key both sides have.
-- grain: pair, key
SELECT
  pair, key, count_if(NOT is_candidate) AS base_count,
  count_if(is_candidate) AS candidate_count
FROM operations
GROUP BY pair, key
