-- step: What all edits have together that none has alone, where nothing but
--   edits differs.
-- grain: pair, memory space
SELECT
  e.pair, e.space_color, sum(e.share_bytes) AS counted_bytes,
  CAST(any_value(e.total_delta) - coalesce(counted_bytes, 0) AS BIGINT)
    AS joint_bytes
FROM claims_of_edits AS e
WHERE e.is_source_alone
  AND e.is_split
GROUP BY e.pair, e.space_color
HAVING joint_bytes <> 0
  AND count(e.standing) > 1
  AND count(e.standing) > count(e.share_bytes)
