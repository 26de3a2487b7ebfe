-- step: Buffers that changed between the pairs that are split.
-- grain: pair, memory space, row of buffer_changes
SELECT
  o.pair, c.color AS space_color, c.place AS number, c.part, c.kind,
  c.delta_bytes, c.base_op_path, c.candidate_op_path, c.base_instruction,
  c.candidate_instruction, c.base_value_id, c.candidate_value_id,
  coalesce(c.candidate_opcode, c.base_opcode) AS opcode,
  c.base_shape AS base_type, c.candidate_shape AS candidate_type,
  coalesce(c.candidate_parameter, c.base_parameter) AS parameter
FROM buffer_changes(
  base_ids := (SELECT list(p.base_id ORDER BY p.pair) FROM split_pairs AS p),
  candidate_ids := (
    SELECT list(p.own_id ORDER BY p.pair) FROM split_pairs AS p
  )
) AS c
JOIN (
  SELECT row_number() OVER (ORDER BY pair) AS number, pair FROM split_pairs
) AS o
  ON o.number = c.pair
WHERE c.part <> 'same'
