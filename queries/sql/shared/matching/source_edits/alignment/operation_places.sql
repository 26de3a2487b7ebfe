-- step: Where unmatched operations are in the order in which the program comes
--   to them: how many matched ones come before, so that both sides have one
--   scale.
-- grain: pair, side, instruction
SELECT pair, is_candidate, instruction_id, place
FROM (
  SELECT
    o.pair, o.is_candidate, o.instruction_id,
    u.instruction_id IS NOT NULL AS is_unmatched,
    count_if(u.instruction_id IS NULL) OVER (
      PARTITION BY o.pair, o.is_candidate
      ORDER BY list_append(coalesce(c.calls, []), o.instruction_id)
    ) AS place
  FROM operations AS o
  SEMI JOIN first_unmatched AS f USING (pair)
  LEFT JOIN unmatched_operations AS u
    USING (pair, is_candidate, instruction_id)
  LEFT JOIN call_chains AS c
    ON c.pair = o.pair
    AND c.is_candidate = o.is_candidate
    AND c.computation_id = o.computation_id
)
WHERE is_unmatched
