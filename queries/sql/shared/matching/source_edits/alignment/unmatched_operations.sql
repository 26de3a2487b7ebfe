-- step: Operations that the other side lacks. They match by their signature.
--   Where both sides have a signature and one has it more often, signatures of
--   the operands decide, too, and then whether those of added calls are as
--   many as there are too many.
-- grain: pair, side, instruction
WITH signed_with_operands AS MATERIALIZED (
  SELECT
    u.pair, u.is_candidate, u.instruction_id,
    any_value(u.frame_id) AS frame_id,
    hash(
      u.signature,
      list_sort(list(o.signature) FILTER (WHERE o.signature IS NOT NULL))
    ) AS signature
  FROM uneven_operations AS u
  LEFT JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  LEFT JOIN signed_operations AS o
    ON o.pair = e.pair
    AND o.is_candidate = e.is_candidate
    AND o.instruction_id = e.operand_id
  WHERE NOT u.is_on_one_side
  GROUP BY u.pair, u.is_candidate, u.instruction_id, u.signature
),
frames_of_added AS (
  SELECT DISTINCT c.pair, c.is_candidate, c.frame_id
  FROM call_sites AS c
  SEMI JOIN added_calls AS a USING (pair, is_candidate, site)
),
surpluses AS (
  SELECT
    pair, signature,
    count_if(is_candidate) > count_if(NOT is_candidate) AS is_candidate,
    abs(count_if(is_candidate) - count_if(NOT is_candidate)) AS surplus
  FROM signed_with_operands
  GROUP BY pair, signature
  HAVING surplus > 0
),
operations_of_more AS (
  SELECT
    o.pair, o.is_candidate, o.instruction_id,
    f.frame_id IS NOT NULL AS is_added,
    count(f.frame_id) OVER (PARTITION BY o.pair, o.signature) = m.surplus
      AS is_of_added
  FROM signed_with_operands AS o
  JOIN surpluses AS m USING (pair, signature, is_candidate)
  LEFT JOIN frames_of_added AS f USING (pair, is_candidate, frame_id)
)
SELECT s.*
FROM signed_operations AS s
SEMI JOIN (
  SELECT u.pair, u.is_candidate, u.instruction_id
  FROM uneven_operations AS u
  WHERE u.is_on_one_side
  UNION ALL
  SELECT o.pair, o.is_candidate, o.instruction_id
  FROM operations_of_more AS o
  WHERE o.is_added
    OR NOT o.is_of_added
) AS w USING (pair, is_candidate, instruction_id)
