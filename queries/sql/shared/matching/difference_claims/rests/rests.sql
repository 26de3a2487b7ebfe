-- step: What is left of the difference.
-- grain: pair, memory space
SELECT
  d.pair, d.space_color, d.direction, d.total_delta,
  CAST(d.total_delta - coalesce(sum(s.share_bytes), 0) AS BIGINT)
    AS share_bytes
FROM split_pairs AS p
JOIN space_differences AS d USING (pair)
LEFT JOIN (
  SELECT e.pair, e.space_color, e.share_bytes FROM claims_of_edits AS e
  UNION ALL
  SELECT h.pair, h.space_color, h.share_bytes FROM shares_of_several AS h
  UNION ALL
  SELECT j.pair, j.space_color, j.joint_bytes FROM joint_shares AS j
) AS s
  ON s.pair = d.pair
  AND s.space_color = d.space_color
GROUP BY d.pair, d.space_color, d.total_delta, d.direction
HAVING d.total_delta <> coalesce(sum(s.share_bytes), 0)
