-- step: What is known of both sides, and whether their programs are the same.
-- grain: pair
WITH compiled AS MATERIALIZED (
  SELECT c.*
  FROM compilations(run_ids := (
    SELECT
      coalesce(list_distinct(list(base_run_id) || list(candidate_run_id)), [])
    FROM asked_pairs
  )) AS c
)
SELECT
  a.pair, nullif(b.run_id, a.candidate_run_id) AS base_run_id,
  a.candidate_run_id,
  b.module_id AS base_id,
  b.program AS base_program, b.rank AS base_rank,
  b.source_exact AS base_source,
  coalesce(b.has_assignment, FALSE) AS has_base, c.module_id AS candidate_id,
  c.program AS candidate_program, c.rank AS candidate_rank, c.source_exact
    AS candidate_source,
  coalesce(c.has_assignment, FALSE) AS has_candidate,
  b.platform AS base_platform, c.platform AS candidate_platform,
  k.differing_keys,
  coalesce(b.exact_fingerprint = c.exact_fingerprint, FALSE)
    AS is_identical,
  coalesce(b.graph_fingerprint = c.graph_fingerprint, FALSE)
    AS is_same_graph,
  coalesce(f.ordinal, 0) AS ordinal
FROM asked_pairs AS a
LEFT JOIN compiled AS b
  ON b.run_id = a.base_run_id
  AND b.place = a.base_place
LEFT JOIN compiled AS c
  ON c.run_id = a.candidate_run_id
  AND c.place = a.candidate_place
LEFT JOIN followed_runs AS f ON f.run_id = a.candidate_run_id,
LATERAL (
  SELECT d.differing_keys
  FROM differing_keys(
    base_key := b.program_key, base_shapes := b.entry_shapes,
    base_source := b.source_shapes, base_partitions := b.num_partitions,
    base_platform := b.platform, candidate_key := c.program_key,
    candidate_shapes := c.entry_shapes,
    candidate_source := c.source_shapes,
    candidate_partitions := c.num_partitions,
    candidate_platform := c.platform
  ) AS d
) AS k
