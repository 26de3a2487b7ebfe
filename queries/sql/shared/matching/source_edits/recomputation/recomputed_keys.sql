-- step: Keys of which the side recomputes more that does so of all.
-- grain: pair, key
SELECT c.pair, c.key
FROM recomputation_counts AS c
JOIN recomputation_changes AS t USING (pair)
WHERE c.has_changed
  AND (c.candidate_recomputed > c.base_recomputed) = (t.more_recomputed > 0)
-- Of what both sides recompute, nobody knows which is the one more.
QUALIFY least(c.base_recomputed, c.candidate_recomputed) = 0
  OR min(least(c.base_recomputed, c.candidate_recomputed))
    OVER (PARTITION BY c.pair) > 0
