-- step: Bytes of each sighting of the track, and the last run at which the
--   level breaks: from there on it is nearer to the candidate than to the
--   base.
-- grain: pair, memory space, run
WITH levels AS (
  SELECT
    s.pair, s.space_color, s.is_comparable, s.run_place AS candidate_run_place,
    s.base_bytes, s.candidate_bytes, p.run_id, p.place, p.run_place,
    p.run_id = s.base_run_id AND p.place = s.base_place AS is_base,
    list_contains(s.comparable_shapes, p.shape) AS is_alike,
    coalesce(m.reserved_bytes, 0) AS level_bytes
  FROM pair_spaces AS s
  JOIN track_points AS p ON p.track = s.track
  LEFT JOIN memory_profile AS m
    ON m.module_id = p.module_id
    AND m.color = s.space_color
  WHERE s.base_id IS NOT NULL
)
SELECT
  l.*,
  coalesce(max(l.run_place) FILTER (
    l.run_place <= l.candidate_run_place
    AND CASE
      WHEN NOT l.is_comparable THEN NOT l.is_alike
      ELSE l.is_alike
        AND (
          l.is_base
          OR (2 * l.level_bytes - l.base_bytes - l.candidate_bytes)
            * sign(l.candidate_bytes - l.base_bytes) <= 0
        )
    END
  ) OVER (PARTITION BY l.pair, l.space_color), 0) AS break_place
FROM levels AS l
