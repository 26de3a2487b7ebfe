-- step: Temporary values of equal size of which one ends where the other
--   begins, read and made by one operation that XLA may compute in place.
-- grain: operand, result
WITH tenants AS (
  SELECT *
  FROM placed_values()
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
    AND size_bytes > 0
)
SELECT DISTINCT
  b.module_id, b.color AS space_color, b.instruction_id, b.instruction,
  b.shape_index, a.instruction AS operand_instruction,
  a.shape_index AS operand_shape_index, b.start_step AS step, b.shape,
  b.size_bytes, i.opcode, i.op_name, a.value_id AS older_id,
  b.value_id AS newer_id, a.shape AS older_shape,
  a.allocation_id = b.allocation_id AND a.offset_bytes = b.offset_bytes
    AS is_shared,
  coalesce(
    TRY_CAST(regexp_extract(b.shape_index, '^\{([0-9]+)', 1) AS INTEGER), 0
  ) AS result_number
FROM tenants AS a
JOIN store.value_uses AS u
  ON u.module_id = a.module_id
  AND u.value_id = a.value_id
JOIN tenants AS b
  ON b.module_id = u.module_id
  AND b.instruction_id = u.instruction_id
  AND b.start_step = a.end_step
  AND b.size_bytes = a.size_bytes
  AND b.color = a.color
  AND b.value_id <> a.value_id
JOIN selected_instructions() AS i
  ON i.module_id = b.module_id
  AND i.instruction_id = b.instruction_id
WHERE i.opcode IN ('dynamic-update-slice', 'scatter', 'sort')
  OR i.opcode IN (SELECT e.opcode FROM elementwise_opcodes AS e)
  OR (i.opcode = 'fusion' AND i.fusion_kind IN ('kLoop', 'kInput'))
