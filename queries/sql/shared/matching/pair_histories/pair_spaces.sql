-- step: Reserved bytes of both sides.
-- grain: pair, memory space
SELECT
  p.*, s.space_color, coalesce(b.reserved_bytes, 0) AS base_bytes,
  coalesce(c.reserved_bytes, 0) AS candidate_bytes
FROM known_pairs AS p
JOIN (
  SELECT x.pair, m.color AS space_color
  FROM known_pairs AS x
  JOIN memory_profile AS m ON m.module_id = x.base_id
  UNION
  SELECT x.pair, m.color
  FROM known_pairs AS x
  JOIN memory_profile AS m ON m.module_id = x.candidate_id
) AS s USING (pair)
LEFT JOIN memory_profile AS b
  ON b.module_id = p.base_id
  AND b.color = s.space_color
LEFT JOIN memory_profile AS c
  ON c.module_id = p.candidate_id
  AND c.color = s.space_color
