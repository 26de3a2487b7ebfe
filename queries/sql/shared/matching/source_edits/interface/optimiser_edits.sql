-- step: Another set of optimiser moments among the arguments, by their names:
--   those that optimisers use, and what else the state of one calls a
--   hundredth of all arguments or more. Names of weights are left out.
-- grain: pair
WITH named AS (
  SELECT
    g.pair, g.is_candidate, g.logical_bytes,
    regexp_extract(
      g.argument,
      '(?:^|[^a-z])(mu|nu|momentum|velocity|exp_avg(?:_sq)?|trace|acc_grads'
        || '|sum_of_squares|accumulator|v_row|v_col)(?:[^a-z]|$)', 1
    ) AS known,
    regexp_extract(
      g.argument, 'opt(?:imi[sz]er)?_?state(?:\[\d+\])*\.(\w+)\[', 1
    ) AS attribute
  FROM arguments AS g
  WHERE NOT regexp_matches(g.argument, '^(state\.)?params?([^a-z]|$)')
),
moments AS (
  SELECT
    n.pair, n.is_candidate, n.logical_bytes,
    CASE WHEN n.known <> '' THEN n.known ELSE n.attribute END AS moment
  FROM named AS n
  QUALIFY n.known <> ''
    OR sum(n.logical_bytes) OVER (PARTITION BY n.pair, n.attribute)
      >= 0.01 * sum(n.logical_bytes) OVER (PARTITION BY n.pair)
)
SELECT
  m.pair, 'optimiser' AS change,
  string_agg(DISTINCT m.moment, ', ' ORDER BY m.moment)
    FILTER (WHERE NOT m.is_candidate) AS base_text,
  string_agg(DISTINCT m.moment, ', ' ORDER BY m.moment)
    FILTER (WHERE m.is_candidate) AS candidate_text,
  abs(count_if(m.is_candidate) - count_if(NOT m.is_candidate))
    AS operation_count,
  sum(CASE WHEN m.is_candidate THEN m.logical_bytes ELSE -m.logical_bytes END)
    AS delta_bytes
FROM moments AS m
JOIN argument_agreement AS g USING (pair)
WHERE m.moment <> ''
GROUP BY m.pair
HAVING base_text IS DISTINCT FROM candidate_text
  -- Other names alone are no other optimiser, nor is state without a name.
  AND (operation_count <> 0 OR delta_bytes <> 0)
  AND NOT (bool_and(g.has_same_count) AND operation_count <> 0)
