-- step: All that the origin is found by, for each pair.
-- grain: pair
WITH donations AS (
  SELECT a.module_id, count(*) AS alias_count
  FROM aliases AS a
  JOIN (SELECT DISTINCT s.earliest_id AS module_id FROM compilation_sides AS s)
    USING (module_id)
  GROUP BY a.module_id
)
SELECT
  p.pair, p.b.run_id AS base_run, p.b.place AS base_number,
  p.c.run_id AS candidate_run, p.c.place AS candidate_number,
  coalesce(x.alias_count, 0) AS base_aliases,
  coalesce(y.alias_count, 0) AS candidate_aliases,
  p.b.source_graph IS NOT NULL AND p.c.source_graph IS NOT NULL
    AS has_sources,
  coalesce(p.b.source_graph = p.c.source_graph, FALSE) AS is_same_source,
  coalesce(p.b.source_graph = p.c.source_graph, FALSE)
  AND f.base_run IS NOT NULL AS is_by_flags,
  coalesce(p.b.exact_fingerprint = p.c.exact_fingerprint, FALSE)
    AS is_identical,
  coalesce(p.b.graph_fingerprint = p.c.graph_fingerprint, FALSE)
    AS is_same_graph,
  coalesce(p.b.source_shapes <> p.c.source_shapes, FALSE)
    AS has_other_shapes,
  coalesce(t.remat_count, 0) AS base_remats,
  coalesce(u.remat_count, 0) AS candidate_remats,
  NOT (coalesce(t.remat_count, 0) = 0 AND coalesce(t.remat_mentions, 0) > 0)
  AND NOT (
    coalesce(u.remat_count, 0) = 0 AND coalesce(u.remat_mentions, 0) > 0
  ) AS are_marked,
  coalesce(t.scoped_bytes, 0) AS base_scoped,
  coalesce(u.scoped_bytes, 0) AS candidate_scoped,
  t.shardings IS DISTINCT FROM u.shardings AS has_other_shardings,
  t.sharding_kinds IS DISTINCT FROM u.sharding_kinds
    AS has_other_sharding_kinds,
  coalesce(r.score, 1.0) AS likeness,
  coalesce(r.has_other_collectives, FALSE) AS has_other_collectives,
  coalesce(s.score, 1.0) AS source_likeness,
  coalesce(s.typed_score, 1.0) AS typed_likeness,
  d.difference, e.label AS last_equal_stage, n.name AS first_different,
  n.stage_name, lower(coalesce(n.pass_after, '')) AS pass_after,
  n.base_count, n.candidate_count, d.snapshot_count
FROM compiled_pairs AS p
LEFT JOIN donations AS x ON x.module_id = p.b.earliest_id
LEFT JOIN donations AS y ON y.module_id = p.c.earliest_id
LEFT JOIN program_traits AS t ON t.module_id = p.b.earliest_id
LEFT JOIN program_traits AS u ON u.module_id = p.c.earliest_id
LEFT JOIN runs_with_other_flags AS f
  ON f.base_run = p.b.run_id
  AND f.candidate_run = p.c.run_id
LEFT JOIN likenesses AS r
  ON r.base_id = p.b.module_id
  AND r.candidate_id = p.c.module_id
LEFT JOIN likenesses AS s
  ON s.base_id = p.b.source_id
  AND s.candidate_id = p.c.source_id
LEFT JOIN stage_differences AS d ON d.pair = p.pair
LEFT JOIN last_equal_stage AS e ON e.pair = p.pair
LEFT JOIN first_differences AS n ON n.pair = p.pair
