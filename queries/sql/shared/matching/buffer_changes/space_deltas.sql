-- step: By how much the memory profiles of both sides differ, per kind of
--   allocation.
-- grain: pair, memory space
WITH used_spaces AS (
  SELECT DISTINCT p.pair, m.color AS space_color
  FROM asked_pairs AS p
  JOIN memory_profile AS m ON m.module_id = p.base_id
  UNION
  SELECT p.pair, m.color
  FROM asked_pairs AS p
  JOIN memory_profile AS m ON m.module_id = p.candidate_id
)
SELECT
  u.pair, u.space_color, p.is_detailed,
  coalesce(c.reserved_bytes, 0) - coalesce(b.reserved_bytes, 0)
    AS total_delta,
  coalesce(b.temp_live_peak_bytes IS NOT NULL OR b.temp_bytes = 0, TRUE)
  AND coalesce(c.temp_live_peak_bytes IS NOT NULL OR c.temp_bytes = 0, TRUE)
    AS has_ranges,
  coalesce(c.parameter_bytes, 0) - coalesce(b.parameter_bytes, 0)
    AS parameter_delta,
  coalesce(c.constant_bytes, 0) - coalesce(b.constant_bytes, 0)
    AS constant_delta,
  coalesce(c.live_out_bytes, 0) - coalesce(b.live_out_bytes, 0)
    AS live_out_delta,
  coalesce(c.thread_local_bytes, 0) - coalesce(b.thread_local_bytes, 0)
    AS thread_local_delta,
  coalesce(c.temp_bytes, 0) - coalesce(b.temp_bytes, 0) AS temp_delta,
  coalesce(c.temp_live_peak_bytes, 0) - coalesce(b.temp_live_peak_bytes, 0)
    AS live_delta,
  coalesce(c.fragmentation_bytes, 0) - coalesce(b.fragmentation_bytes, 0)
    AS packing_delta
FROM used_spaces AS u
JOIN detailed_pairs AS p USING (pair)
LEFT JOIN memory_profile AS b
  ON b.module_id = p.base_id
  AND b.color = u.space_color
LEFT JOIN memory_profile AS c
  ON c.module_id = p.candidate_id
  AND c.color = u.space_color
