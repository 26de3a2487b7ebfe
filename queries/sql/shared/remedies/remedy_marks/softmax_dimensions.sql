-- step: Dimensions of logits and scores, of what a softmax exponentiates, and
--   of stacks of these that loops carry. A sigmoid, also that of silu,
--   exponentiates a negation.
-- grain: module content, dimensions
WITH single AS MATERIALIZED (
  SELECT v.module_id, v.dimensions
  FROM shaped_arrays AS s
  JOIN arrays AS v USING (module_id, value_id)
  WHERE s.mark IN ('logits', 'scores')
  UNION
  SELECT i.module_id, regexp_extract(i.shape, '\[([\d,]*)', 1)
  FROM scheduled_instructions AS i
  WHERE i.opcode = 'exponential'
    AND regexp_matches(i.op_name, '/exp$|(?i)softmax')
    AND (i.module_id, i.instruction_id) NOT IN (
      SELECT (o.module_id, o.instruction_id)
      FROM operands AS o
      JOIN scheduled_instructions AS n
        ON n.module_id = o.module_id
        AND n.instruction_id = o.operand_id
      WHERE n.opcode = 'negate'
    )
)
SELECT module_id, dimensions FROM single
UNION
SELECT l.module_id, l.dimensions
FROM loop_stacks AS l
JOIN single AS s
  ON s.module_id = l.module_id
  AND s.dimensions = substr(l.dimensions, strpos(l.dimensions, ',') + 1)
