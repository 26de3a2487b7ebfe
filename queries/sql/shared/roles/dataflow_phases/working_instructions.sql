-- step: What may be of either pass: instructions without a mark and of the
--   backward pass, but for those that only move what is given.
-- grain: instruction
SELECT
  n.module_id, n.instruction_id, n.is_unmarked,
  n.opcode IN ('convolution', 'dot') AS is_product
FROM nodes AS n
ANTI JOIN moved_parameters AS s
  ON s.module_id = n.module_id
  AND s.instruction_id = n.instruction_id
WHERE n.is_unmarked
  OR n.phase = 'backward'
