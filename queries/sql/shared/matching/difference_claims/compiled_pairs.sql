-- step: The pairs with their contents, and whether something else than the
--   source differs: the arguments, or versions, devices and flags.
-- grain: pair
WITH compiled AS MATERIALIZED (
  SELECT c.*
  FROM compilations(run_ids := (
    SELECT coalesce(list_distinct(list(base_run) || list(own_run)), [])
    FROM asked_pairs
  )) AS c
),
run_pairs AS MATERIALIZED (
  SELECT
    base_run, own_run, row_number() OVER (ORDER BY base_run, own_run) AS number
  FROM (SELECT DISTINCT base_run, own_run FROM asked_pairs)
),
other_environments AS (
  SELECT DISTINCT r.base_run, r.own_run
  FROM run_pairs AS r
  JOIN environment_changes(
    base_runs := (
      SELECT list(o.base_run ORDER BY o.number) FROM run_pairs AS o
    ),
    candidate_runs := (
      SELECT list(o.own_run ORDER BY o.number) FROM run_pairs AS o
    )
  ) AS e
    ON e.pair = r.number
  WHERE e.is_memory_relevant
    OR e.key IN (
      'compiler_version', 'framework_version', 'platform', 'device', 'topology'
    )
)
SELECT
  a.pair, a.base_run, a.own_run, b.module_id AS base_id,
  c.module_id AS own_id, b.source_id AS base_source,
  c.source_id AS own_source, b.locations_id AS base_locations,
  c.locations_id AS own_locations, c.program AS own_program,
  b.program AS earlier_program, d.arrays <> f.arrays AS has_other_inputs,
  o.base_run IS NOT NULL AS has_other_environment
FROM asked_pairs AS a
JOIN compiled AS b
  ON b.run_id = a.base_run
  AND b.place = a.base_number
JOIN compiled AS c
  ON c.run_id = a.own_run
  AND c.place = a.own_number
LEFT JOIN other_environments AS o
  ON o.base_run = a.base_run
  AND o.own_run = a.own_run,
LATERAL argument_arrays(shapes := b.source_shapes) AS d,
LATERAL argument_arrays(shapes := c.source_shapes) AS f
