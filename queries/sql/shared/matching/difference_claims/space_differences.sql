-- step: By how much reserved memory moved, in every memory space. direction: 1
--   more, -1 less, 0 where the live peak moved the other way.
-- grain: pair, memory space
SELECT
  s.pair, s.space_color, s.total_delta,
  CASE
    WHEN s.total_delta * coalesce(s.live_delta, 0) < 0 THEN 0
    WHEN s.total_delta = 0 THEN sign(coalesce(s.live_delta, 0))
    ELSE sign(s.total_delta)
  END AS direction
FROM (
  SELECT
    p.pair, m.color AS space_color,
    CAST(sum(m.reserved_bytes * p.weight) AS BIGINT) AS total_delta,
    sum(m.live_peak_bytes * p.weight) AS live_delta
  FROM (
    SELECT pair, base_id AS module_id, -1 AS weight FROM compiled_pairs
    UNION ALL
    SELECT pair, own_id, 1 FROM compiled_pairs
  ) AS p
  JOIN memory_profile AS m USING (module_id)
  GROUP BY p.pair, m.color
) AS s
