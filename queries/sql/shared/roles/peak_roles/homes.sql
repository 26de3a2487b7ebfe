-- step: Values at the peak with the parameter that they are or copy. A copy of
--   a whole parameter that takes more is of kind argument_copy.
-- grain: value
-- materialised: no
SELECT
  v.module_id, v.color, v.allocation_id, v.value_id, v.instruction_id,
  v.owned_bytes, v.padding_bytes,
  CASE
    WHEN p.color = v.color
      AND split_part(p.shape, '{', 1) = split_part(v.shape, '{', 1)
      AND p.size_bytes < v.size_bytes THEN 'argument_copy'
    WHEN c.allocation_id IS NOT NULL THEN 'parameter'
    WHEN w.value_id IS NOT NULL THEN 'temp'
    ELSE v.kind
  END AS kind,
  coalesce(c.allocation_id, v.allocation_id) AS home_id,
  c.allocation_id IS NOT NULL AS is_copy
FROM placed_at_peak AS v
LEFT JOIN guest_values AS w
  ON w.module_id = v.module_id
  AND w.value_id = v.value_id
LEFT JOIN (
  SELECT module_id, instruction_id, element, max(allocation_id)
    AS allocation_id
  FROM (
    SELECT * FROM parameter_copies WHERE element IS NOT NULL
    UNION ALL
    SELECT c.module_id, c.instruction_id, p.element, c.allocation_id
    FROM parameter_copies AS c
    JOIN (
      SELECT DISTINCT module_id, instruction_id, element FROM placed_at_peak
    ) AS p
      USING (module_id, instruction_id)
    WHERE c.element IS NULL
  )
  GROUP BY module_id, instruction_id, element
) AS c
  ON c.module_id = v.module_id
  AND c.instruction_id = v.instruction_id
  AND c.element = v.element
  AND (v.kind = 'temp' OR w.value_id IS NOT NULL)
LEFT JOIN described_parameters AS p
  ON p.module_id = c.module_id
  AND p.allocation_id = c.allocation_id
