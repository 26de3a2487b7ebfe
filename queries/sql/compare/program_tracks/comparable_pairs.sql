-- step: Which shapes of a track are comparable.
-- grain: track, shape of the base, shape of the candidate
WITH track_shapes AS MATERIALIZED (
  SELECT
    s.track, s.shape, s.program_key, s.entry_shapes, s.source_shapes,
    s.num_partitions, s.platform,
    row_number() OVER (PARTITION BY s.track ORDER BY min(s.run_place))
      AS shape_number
  FROM sightings AS s
  GROUP BY
    s.track, s.shape, s.program_key, s.entry_shapes, s.source_shapes,
    s.num_partitions, s.platform
)
SELECT
  b.track, b.shape AS base_shape, c.shape AS candidate_shape,
  b.shape_number AS base_number, c.shape_number AS candidate_number
FROM track_shapes AS b
JOIN track_shapes AS c USING (track),
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
WHERE k.differing_keys = ''
  OR b.shape = c.shape
