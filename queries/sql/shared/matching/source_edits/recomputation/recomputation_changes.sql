-- step: Pairs of which one side recomputes more. is_kept says that some
--   checkpoint is still in the candidate. more_barriers: JAX writes one
--   opt-barrier per checkpoint that is recomputed, whatever it saves;
--   is_of_one says that no side has more than one. Where the candidate calls
--   more of what it recomputes, such as a model twice, but recomputes all of
--   other keys in proportion, only operations of changed keys count.
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
    pair, sum(base_recomputed) AS all_base,
    sum(candidate_recomputed) AS all_candidate,
    sum(base_recomputed) FILTER (WHERE has_changed) AS changed_base,
    sum(candidate_recomputed) FILTER (WHERE has_changed)
      AS changed_candidate,
    changed_candidate - changed_base AS more_recomputed,
    sum(
      candidate_recomputed
      - base_recomputed * candidate_computed / base_computed
    ) FILTER (
      WHERE NOT has_changed AND least(base_computed, candidate_computed) > 0
    ) AS more_of_others,
    (more_recomputed > 0) = (all_candidate > all_base) AS is_of_all,
    CASE WHEN is_of_all THEN all_base ELSE changed_base END AS base_recomputed,
    CASE WHEN is_of_all THEN all_candidate ELSE changed_candidate END
      AS candidate_recomputed
  FROM recomputation_counts
  GROUP BY pair
) AS t
  USING (pair)
WHERE t.all_base <> t.all_candidate
  AND t.more_recomputed <> 0
  AND (t.is_of_all OR t.more_of_others = 0)
