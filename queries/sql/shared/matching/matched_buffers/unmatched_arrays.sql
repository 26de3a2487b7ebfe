-- step: Buffers without such a partner, and all that are not at the peak.
-- grain: pair, side, buffer
WITH done AS (
  SELECT m.pair, FALSE AS is_candidate, m.base_place AS place
  FROM sure_matches AS m
  UNION ALL
  SELECT m.pair, TRUE, m.candidate_place
  FROM sure_matches AS m
  UNION ALL
  SELECT d.pair, d.is_candidate, d.place
  FROM lost_donations AS d
)
SELECT t.*
FROM compared_arrays AS t
ANTI JOIN done AS d
  ON d.pair = t.pair
  AND d.is_candidate = t.is_candidate
  AND d.place = t.place
