-- step: Pairs whose sides are not of one track, compared by their inputs.
-- grain: pair
-- materialised: no
WITH pairs_off_tracks AS MATERIALIZED (
  SELECT
    p.pair, p.base_run_id, p.base_place, p.candidate_run_id, p.candidate_place
  FROM placed_pairs AS p
  WHERE p.base_place IS NOT NULL
    AND (
      p.base_track IS NULL
      OR (p.candidate_place IS NOT NULL AND p.track <> p.base_track)
    )
),
compiled AS MATERIALIZED (
  SELECT c.*
  FROM compilations(run_ids := (
    SELECT
      coalesce(list_distinct(list(base_run_id) || list(candidate_run_id)), [])
    FROM pairs_off_tracks
  )) AS c
)
SELECT e.pair, b.module_id, k.differing_keys = '' AS is_comparable
FROM pairs_off_tracks AS e
LEFT JOIN compiled AS b
  ON b.run_id = e.base_run_id
  AND b.place = e.base_place
LEFT JOIN compiled AS c
  ON c.run_id = e.candidate_run_id
  AND c.place = e.candidate_place,
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
