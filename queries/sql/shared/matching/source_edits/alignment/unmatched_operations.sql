-- step: Operations that the other side lacks. Operations match by their
--   signature: key, type, dimensions and sharding, as far as arguments and
--   partitions of both sides are alike; a conversion also by the key of what
--   it converts. Where both sides have a signature and one has it more often,
--   signatures of the operands decide, too.
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
),
signed AS MATERIALIZED (
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
),
uneven_signatures AS MATERIALIZED (
  SELECT
    pair, signature, count_if(NOT is_candidate) AS base_count,
    count_if(is_candidate) AS candidate_count
  FROM signed
  GROUP BY pair, signature
  HAVING base_count <> candidate_count
),
uneven AS MATERIALIZED (
  SELECT
    s.pair, s.is_candidate, s.instruction_id, s.signature,
    least(c.base_count, c.candidate_count) = 0 AS is_on_one_side
  FROM signed AS s
  JOIN uneven_signatures AS c USING (pair, signature)
  WHERE s.is_candidate = (c.candidate_count > c.base_count)
    OR least(c.base_count, c.candidate_count) > 0
),
signed_with_operands AS MATERIALIZED (
  SELECT
    u.pair, u.is_candidate, u.instruction_id,
    hash(
      u.signature,
      list_sort(list(o.signature) FILTER (WHERE o.signature IS NOT NULL))
    ) AS signature
  FROM uneven AS u
  LEFT JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  LEFT JOIN signed AS o
    ON o.pair = e.pair
    AND o.is_candidate = e.is_candidate
    AND o.instruction_id = e.operand_id
  WHERE NOT u.is_on_one_side
  GROUP BY u.pair, u.is_candidate, u.instruction_id, u.signature
)
SELECT s.*
FROM signed AS s
SEMI JOIN (
  SELECT u.pair, u.is_candidate, u.instruction_id
  FROM uneven AS u
  WHERE u.is_on_one_side
  UNION ALL
  SELECT o.pair, o.is_candidate, o.instruction_id
  FROM signed_with_operands AS o
  JOIN (
    SELECT
      pair, signature,
      count_if(is_candidate) > count_if(NOT is_candidate) AS is_candidate
    FROM signed_with_operands
    GROUP BY pair, signature
    HAVING count_if(is_candidate) <> count_if(NOT is_candidate)
  ) AS m USING (pair, signature, is_candidate)
) AS w USING (pair, is_candidate, instruction_id)
