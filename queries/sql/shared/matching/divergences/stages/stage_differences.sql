-- step: Whether the last snapshots differ in their graph, in their order or
--   layouts only, or not at all.
-- grain: pair with snapshots on both sides
-- materialised: no
WITH ends AS (
  SELECT
    pair, count(*) FILTER (WHERE is_candidate) AS snapshot_count,
    arg_max(graph_fingerprint, place) FILTER (WHERE NOT is_candidate)
      AS base_graph,
    arg_max(graph_fingerprint, place) FILTER (WHERE is_candidate)
      AS candidate_graph,
    arg_max(exact_fingerprint, place) FILTER (WHERE NOT is_candidate)
      AS base_exact,
    arg_max(exact_fingerprint, place) FILTER (WHERE is_candidate)
      AS candidate_exact
  FROM stage_snapshots
  GROUP BY pair
)
SELECT
  pair, snapshot_count,
  CASE
    WHEN base_graph <> candidate_graph THEN 'graph'
    WHEN base_exact <> candidate_exact THEN 'in_order_only'
    ELSE 'none'
  END AS difference
FROM ends
WHERE base_graph IS NOT NULL
  AND candidate_graph IS NOT NULL
