-- step: Of a fall, the earlier rise that it undoes.
-- grain: pair, memory space
-- materialised: no
WITH rises AS (
  SELECT
    b.*, lag(b.level_bytes) OVER so_far AS earlier_bytes,
    min(b.level_bytes) OVER (
      PARTITION BY b.pair, b.space_color
      ORDER BY b.run_place
      ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    ) AS least_bytes
  FROM levels_with_breaks AS b
  WHERE b.is_alike
    AND b.run_place < b.candidate_run_place
    AND b.candidate_bytes < b.base_bytes
  WINDOW so_far AS (
    PARTITION BY b.pair, b.space_color ORDER BY b.run_place
  )
)
SELECT
  r.pair, r.space_color, arg_max(r.run_id, r.run_place) AS run_id
FROM rises AS r
WHERE 2 * r.least_bytes > r.earlier_bytes + r.level_bytes
  AND r.level_bytes - r.earlier_bytes >= $min_delta_bytes
  AND r.level_bytes - r.earlier_bytes >= $min_delta_ratio * r.earlier_bytes
GROUP BY r.pair, r.space_color, r.candidate_bytes
HAVING arg_max(r.earlier_bytes, r.run_place) >= r.candidate_bytes
