-- step: How many loops run a computation, one within the other; those that
--   none runs are left out.
-- grain: pair, side, computation
SELECT c.pair, c.is_candidate, c.computation_id, count(*) AS loops
FROM (
  SELECT pair, is_candidate, computation_id, unnest(calls) AS instruction_id
  FROM call_chains
) AS c
JOIN operations AS o USING (pair, is_candidate, instruction_id)
WHERE o.opcode = 'while'
GROUP BY c.pair, c.is_candidate, c.computation_id
