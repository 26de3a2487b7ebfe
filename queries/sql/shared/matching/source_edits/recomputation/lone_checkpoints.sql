-- step: The checkpoint of several that recomputes all that has changed, and no
--   other that does: computations in which it recomputes, and that these call.
--   Each writes an opt-barrier into the computation in which it recomputes.
-- grain: pair, computation
WITH RECURSIVE recomputing AS MATERIALIZED (
  SELECT o.pair, o.is_candidate, o.computation_id, o.key
  FROM operations AS o
  JOIN recomputation_changes AS t
    ON t.pair = o.pair
    AND o.is_candidate = (t.more_recomputed > 0)
  WHERE o.is_recomputed
),
calling AS (
  SELECT DISTINCT
    pair, is_candidate, computation_id, computation_id AS caller_id, 0 AS level
  FROM recomputing
  UNION
  SELECT
    l.pair, l.is_candidate, l.computation_id, c.caller_id, l.level + 1 AS level
  FROM calling AS l
  JOIN checkpoint_callers AS c
    ON c.pair = l.pair
    AND c.is_candidate = l.is_candidate
    AND c.computation_id = l.caller_id
),
-- The outermost computation that recomputes has all that it calls.
recomputing_roots AS MATERIALIZED (
  SELECT
    l.pair, l.is_candidate, l.computation_id,
    arg_max(l.caller_id, l.level) AS root_id
  FROM calling AS l
  SEMI JOIN recomputing AS r
    ON r.pair = l.pair
    AND r.is_candidate = l.is_candidate
    AND r.computation_id = l.caller_id
  GROUP BY l.pair, l.is_candidate, l.computation_id
),
-- One of several checkpoints: all that changed is recomputed by that one.
changed_roots AS MATERIALIZED (
  SELECT r.pair, r.is_candidate, any_value(c.root_id) AS root_id
  FROM recomputing AS r
  JOIN recomputed_keys AS k USING (pair, key)
  JOIN recomputing_roots AS c USING (pair, is_candidate, computation_id)
  GROUP BY r.pair, r.is_candidate
  HAVING count(DISTINCT c.root_id) = 1
),
lone_roots AS MATERIALIZED (
  SELECT c.pair, c.is_candidate, c.root_id
  FROM changed_roots AS c
  JOIN recomputation_changes AS t
    ON t.pair = c.pair
    AND t.more_barriers = 0
    AND NOT t.is_of_one
  JOIN operations AS o
    ON o.pair = c.pair
    AND o.is_candidate = c.is_candidate
    AND o.computation_id = c.root_id
    AND o.opcode = 'opt-barrier'
  GROUP BY c.pair, c.is_candidate, c.root_id
  HAVING count(*) = 1
)
SELECT r.pair, r.is_candidate, r.computation_id
FROM recomputing_roots AS r
JOIN lone_roots AS l USING (pair, is_candidate, root_id)
