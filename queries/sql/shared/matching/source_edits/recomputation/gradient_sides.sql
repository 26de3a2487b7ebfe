-- step: The side that alone differentiates something that it recomputes: with
--   as many products of matrices in the forward pass, it has more gradients,
--   at least one for each that it recomputes more. A checkpoint alone
--   recomputes more, and has the same gradients.
-- grain: pair
SELECT p.pair, p.more_gradients > 0 AS is_candidate
FROM (
  SELECT
    o.pair,
    coalesce(sum(o.side) FILTER (WHERE NOT (o.is_backward OR o.is_again)), 0)
      AS more_computed,
    coalesce(sum(o.side) FILTER (WHERE o.is_backward AND NOT o.is_again), 0)
      AS more_gradients,
    coalesce(sum(o.side) FILTER (WHERE o.is_again), 0) AS more_recomputed
  FROM (
    SELECT
      u.pair, u.is_backward,
      CASE WHEN u.is_candidate THEN 1 ELSE -1 END AS side,
      u.is_recomputed OR r.computation_id IS NOT NULL AS is_again
    FROM operations AS u
    LEFT JOIN recomputed_computations AS r
      USING (pair, is_candidate, computation_id)
    WHERE u.is_located
      AND u.opcode IN ('dot', 'convolution')
  ) AS o
  GROUP BY o.pair
) AS p
WHERE p.more_computed = 0
  AND p.more_gradients * p.more_recomputed > 0
  AND abs(p.more_gradients) >= abs(p.more_recomputed)
