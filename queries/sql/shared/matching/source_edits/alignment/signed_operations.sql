-- step: Operations with their signature: key, type, dimensions and sharding,
--   as far as arguments and partitions of both sides are alike; of a
--   conversion also the key of what it converts.
-- grain: pair, side, instruction
WITH converted AS (
  SELECT
    c.pair, c.is_candidate, c.instruction_id, any_value(s.key) AS key
  FROM operations AS c
  JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  JOIN operations AS s
    ON s.pair = e.pair
    AND s.is_candidate = e.is_candidate
    AND s.instruction_id = e.operand_id
  WHERE c.opcode = 'convert'
  GROUP BY c.pair, c.is_candidate, c.instruction_id
)
SELECT
  o.*,
  hash(
    o.key, v.key, o.is_recomputed,
    CASE WHEN coalesce(g.has_same_types, TRUE) THEN o.element_type END,
    CASE WHEN coalesce(g.has_same_sizes, TRUE) THEN o.dims END,
    CASE WHEN p.has_same_partitions THEN o.sharding END
  ) AS signature
FROM operations AS o
JOIN programs AS p USING (pair, is_candidate)
LEFT JOIN converted AS v USING (pair, is_candidate, instruction_id)
LEFT JOIN argument_agreement AS g USING (pair)
WHERE o.opcode <> 'while'
  AND NOT o.is_callback
