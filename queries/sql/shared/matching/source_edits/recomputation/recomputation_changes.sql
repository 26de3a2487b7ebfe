-- step: Pairs of which one side recomputes more. is_kept says that some
--   checkpoint is still in the candidate. more_barriers: JAX writes one
--   opt-barrier per checkpoint that is recomputed, whatever it saves;
--   is_of_one says that no side has more than one.
-- grain: pair
SELECT
  t.*, coalesce(b.more_barriers, 0) AS more_barriers,
  coalesce(b.most_barriers = 1, FALSE) AS is_of_one,
  EXISTS (
    SELECT 1
    FROM operations AS o
    WHERE o.pair = t.pair
      AND o.is_candidate
      AND regexp_matches(o.op_name, '(^|/)(checkpoint|remat\d*)(/|$)')
  ) AS is_kept
FROM (
  SELECT
    pair, sum(CASE WHEN is_candidate THEN 1 ELSE -1 END) AS more_barriers,
    greatest(count_if(is_candidate), count_if(NOT is_candidate))
      AS most_barriers
  FROM operations
  WHERE opcode = 'opt-barrier'
  GROUP BY pair
) AS b
RIGHT JOIN (
  SELECT
    pair, sum(base_recomputed) AS base_recomputed,
    sum(candidate_recomputed) AS candidate_recomputed,
    sum(CASE
      WHEN has_changed THEN candidate_recomputed - base_recomputed ELSE 0
    END) AS more_recomputed
  FROM recomputation_counts
  GROUP BY pair
) AS t
  USING (pair)
WHERE t.base_recomputed <> t.candidate_recomputed
  AND t.more_recomputed <> 0
  AND (t.more_recomputed > 0) = (t.candidate_recomputed > t.base_recomputed)
