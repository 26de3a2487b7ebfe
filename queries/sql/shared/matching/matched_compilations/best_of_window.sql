-- step: The run of the window in which a program reserved least in a memory
--   space; of several the earliest.
-- grain: module of the candidate, memory space
-- materialised: no
WITH sizes AS (
  SELECT
    w.candidate_place, w.pair, c.space_color,
    coalesce(b.reserved_bytes, 0) AS base_bytes
  FROM window_pairs AS w
  JOIN (
    SELECT DISTINCT i.candidate_place, p.color AS space_color
    FROM window_pairs AS i
    JOIN memory_profile AS p
      ON p.module_id IN (i.base_module_id, i.candidate_module_id)
  ) AS c USING (candidate_place)
  LEFT JOIN memory_profile AS b
    ON b.module_id = w.base_module_id
    AND b.color = c.space_color
)
SELECT
  s.candidate_place, s.space_color,
  arg_min(s.pair, (s.base_bytes, -s.pair)) AS pair
FROM sizes AS s
GROUP BY s.candidate_place, s.space_color
