-- step: The two programs of each pair, before optimisations. Pairs of equal
--   contents have no edits, and are left out.
-- grain: pair, side
WITH asked AS (
  SELECT
    unnest(range(1, len($base_ids) + 1)) AS pair,
    unnest($base_runs) AS base_run, unnest($base_ids) AS base_id,
    unnest($candidate_runs) AS candidate_run,
    unnest($candidate_ids) AS candidate_id
),
sides AS (
  SELECT
    a.pair, FALSE AS is_candidate, a.base_run AS run_id,
    a.base_id AS module_id
  FROM asked AS a
  WHERE a.base_id <> a.candidate_id
  UNION ALL
  SELECT a.pair, TRUE, a.candidate_run, a.candidate_id
  FROM asked AS a
  WHERE a.base_id <> a.candidate_id
)
SELECT
  p.*,
  count(DISTINCT p.partition_count) OVER (PARTITION BY p.pair) = 1
    AS has_same_partitions
FROM (
  SELECT
    a.pair, a.is_candidate, s.module_id,
    s.entry_computation_id AS entry_id,
    min(s.locations_id) AS locations_id,
    min(coalesce(s.num_partitions, 1)) AS partition_count
  FROM sides AS a
  JOIN store.occurrences AS o USING (run_id)
  JOIN store.snapshots AS s
    ON s.snapshot_id = o.snapshot_id
    AND s.module_id = a.module_id
  GROUP BY ALL
) AS p
