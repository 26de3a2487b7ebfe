-- step: Pairs of which one side recomputes more. is_kept says that some
--   checkpoint is still in the candidate. more_barriers: JAX writes one opt-
--   barrier per checkpoint that is recomputed, whatever it saves; is_of_one
--   says that no side has more than one. A checkpoint that writes none
--   (prevent_cse=False) recomputes in a loop of its own. Where the candidate
--   calls more of what it recomputes, such as a model twice, but recomputes
--   all of other keys in proportion, only operations of changed keys count. A
--   twentieth at least has to change where both sides recompute all of them,
--   as fewer are of an edit in what is recomputed, and where most of what is
--   recomputed has keys of one side alone, as of another release. Less is
--   enough where another number of values is rounded as JAX rounds what a
--   policy saves, more where less is recomputed, for half of the products of
--   matrices, or where opt-barriers are more or fewer with it, as of a
--   checkpoint within another, each with four operations or more. is_little:
--   both sides have as many checkpoints, and less than that differs in what
--   they recompute, as where code moves. What is recomputed for gradients that
--   the other side lacks is no checkpoint.
-- grain: pair
WITH
rounded AS (
  SELECT
    pair, count_if(is_candidate) - count_if(NOT is_candidate) AS more_saved,
    count_if(is_candidate AND is_recomputed)
      <> count_if(is_recomputed AND NOT is_candidate) AS is_in_recomputed
  FROM operations
  WHERE opcode = 'reduce-precision'
  GROUP BY pair
),
-- Computations in which a checkpoint recomputes: not those that it calls.
checkpointed AS (
  SELECT DISTINCT o.pair, o.is_candidate, o.computation_id
  FROM operations AS o
  ANTI JOIN (
    SELECT c.pair, c.is_candidate, c.called_id
    FROM program_calls AS c
    JOIN operations AS k USING (pair, is_candidate, instruction_id)
    WHERE k.is_recomputed
  ) AS i
    ON i.pair = o.pair
    AND i.is_candidate = o.is_candidate
    AND i.called_id = o.computation_id
  WHERE o.is_recomputed
),
more_places AS (
  SELECT
    pair, count_if(is_candidate) - count_if(NOT is_candidate) AS more_places,
    greatest(count_if(is_candidate), count_if(NOT is_candidate))
      AS most_places
  FROM checkpointed
  GROUP BY pair
)
SELECT
  t.*,
  coalesce(nullif(b.more_written, 0), g.more_places, 0)
    AS more_barriers,
  coalesce(b.most_barriers = 1 AND g.most_places = 1, FALSE) AS is_of_one,
  coalesce(
    abs(t.more_recomputed) >= 0.05 * greatest(t.all_base, t.all_candidate)
    OR r.is_in_recomputed
    OR sign(r.more_saved) = -sign(t.more_recomputed)
    OR sign(b.more_written) = sign(t.more_recomputed)
    AND abs(t.more_recomputed) >= 4 * abs(b.more_written)
    OR t.more_products <> 0
    AND 2 * abs(t.more_products)
      >= greatest(t.base_products, t.candidate_products), FALSE
  ) AS is_much,
  NOT is_much
  AND more_barriers = 0
  AND t.changed_count < 0.05 * greatest(t.all_base, t.all_candidate)
    AS is_little,
  EXISTS (
    SELECT 1
    FROM operations AS o
    WHERE o.pair = t.pair
      AND o.is_candidate
      AND regexp_matches(o.op_name, '(^|/)(checkpoint|remat\d*)(/|$)')
  ) AS is_kept
FROM (
  SELECT
    pair, sum(CASE WHEN is_candidate THEN 1 ELSE -1 END) AS more_written,
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
    sum(base_recomputed) FILTER (WHERE NOT (is_move OR is_layout))
      AS computed_base,
    sum(candidate_recomputed) FILTER (WHERE NOT (is_move OR is_layout))
      AS computed_candidate,
    coalesce(sum(base_recomputed) FILTER (WHERE is_product), 0)
      AS base_products,
    coalesce(sum(candidate_recomputed) FILTER (WHERE is_product), 0)
      AS candidate_products,
    coalesce(
      sum(candidate_recomputed - base_recomputed)
        FILTER (WHERE is_product AND has_changed), 0
    ) AS more_products,
    sum(base_recomputed) FILTER (WHERE has_changed) AS changed_base,
    sum(candidate_recomputed) FILTER (WHERE has_changed)
      AS changed_candidate,
    changed_candidate - changed_base AS more_recomputed,
    sum(abs(candidate_recomputed - base_recomputed)) FILTER (WHERE has_changed)
      AS changed_count,
    count_if(
      has_changed
      AND least(base_recomputed, candidate_recomputed) = 0
    ) > 0
    AND 2 * sum(base_recomputed + candidate_recomputed) FILTER (
      WHERE base_recomputed + base_computed > 0
        AND candidate_recomputed + candidate_computed > 0
    ) > all_base + all_candidate AS has_other_keys,
    sum(
      candidate_recomputed
      - base_recomputed * candidate_computed / base_computed
    ) FILTER (
      WHERE NOT (has_changed OR is_move)
        AND least(base_computed, candidate_computed) > 0
    ) AS more_of_others,
    sign(more_recomputed) = sign(all_candidate - all_base) AS is_of_all,
    sign(more_recomputed) = sign(computed_candidate - computed_base)
      AS is_of_computed,
    -- What only stores is in the way where it is most of the difference.
    2 * abs(all_candidate - all_base) >= abs(more_recomputed) AS is_mostly_all,
    CASE
      WHEN is_of_all AND is_mostly_all THEN all_base
      WHEN is_of_computed THEN computed_base
      WHEN is_of_all THEN all_base
      ELSE changed_base
    END AS base_recomputed,
    CASE
      WHEN is_of_all AND is_mostly_all THEN all_candidate
      WHEN is_of_computed THEN computed_candidate
      WHEN is_of_all THEN all_candidate
      ELSE changed_candidate
    END AS candidate_recomputed
  FROM recomputation_counts
  GROUP BY pair
) AS t
  USING (pair)
LEFT JOIN more_places AS g ON g.pair = t.pair
LEFT JOIN rounded AS r ON r.pair = t.pair
ANTI JOIN gradient_sides AS d ON d.pair = t.pair
WHERE t.more_recomputed <> 0
  AND (t.is_of_all OR t.is_of_computed OR t.more_of_others = 0)
  AND (t.has_other_keys OR is_much)
