-- step: What reads what in a fusion. is_same: an element of the result depends
--   on the same element of the operand.
-- grain: fusion, reading instruction, operand
WITH read AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.operand_index, p.operand_id
  FROM (SELECT DISTINCT module_id FROM fusion_nodes) AS m
  JOIN operands AS p USING (module_id)
)
SELECT
  r.module_id, r.fusion_id, r.instruction_id AS reader_id,
  o.instruction_id AS operand_id, p.operand_index,
  CASE
    WHEN r.opcode = 'tuple' THEN TRUE
    WHEN r.opcode = 'bitcast' THEN r.element_type = o.element_type
    WHEN r.opcode = 'reshape'
      THEN r.is_row_major AND o.is_row_major AND r.tile = ''
        AND o.tile = ''
    WHEN r.opcode IN ('dynamic-update-slice', 'scatter')
      THEN p.operand_index = 0
    WHEN r.opcode = 'transpose'
      THEN r.tile = ''
        AND o.tile = ''
        AND list_transform(r.places, lambda x: r.from_places[x + 1])
          = o.places
    ELSE coalesce(
      r.sizes = o.sizes AND r.places = o.places AND r.tile = o.tile, FALSE
    ) AND r.opcode IN (SELECT e.opcode FROM elementwise_opcodes AS e)
  END AS is_same
FROM fusion_nodes AS r
JOIN read AS p USING (module_id, instruction_id)
JOIN fusion_nodes AS o
  ON o.module_id = p.module_id
  AND o.fusion_id = r.fusion_id
  AND o.instruction_id = p.operand_id
WHERE r.opcode <> 'fusion'
UNION ALL
-- A fusion within: its operands are the parameters, its result the root.
SELECT
  r.module_id, r.fusion_id, r.instruction_id, p.operand_id, NULL, TRUE
FROM fusion_nodes AS r
JOIN read AS p
  ON p.module_id = r.module_id
  AND p.instruction_id = r.caller_id
  AND p.operand_index = r.parameter_number
WHERE r.opcode = 'parameter'
  AND r.caller_id <> r.fusion_id
UNION ALL
SELECT
  r.module_id, r.fusion_id, r.caller_id, r.instruction_id, NULL, TRUE
FROM fusion_nodes AS r
WHERE r.is_root
  AND r.caller_id <> r.fusion_id
