-- step: Values at the peak.
-- grain: value
SELECT
  v.module_id, v.color, v.allocation_id, v.value_id, v.instruction_id,
  v.owned_bytes, v.padding_bytes, v.size_bytes, v.kind, v.shape,
  coalesce(
    TRY_CAST(regexp_extract(v.shape_index, '^\{([0-9]+)', 1) AS INTEGER), -1
  ) AS element
FROM (
  SELECT p.*, n.shape_index
  FROM peak_values() AS p
  LEFT JOIN store."values" AS n USING (module_id, value_id)
  WHERE p.owned_bytes > 0
) AS v
