-- step: Arrays that are copies of one parameter. Of a parameter that is a
--   tuple no instruction copies the whole.
-- grain: instruction, element
-- materialised: no
WITH copies AS MATERIALIZED (
  SELECT m.module_id, m.instruction_id, NULL AS element, m.parameter_number
  FROM copied_parameters() AS m
  UNION
  SELECT
    o.module_id, o.instruction_id, o.element, max(o.parameter_number)
  FROM origins AS o
  GROUP BY o.module_id, o.instruction_id, o.element
  HAVING bool_and(o.parameter_number IS NOT NULL)
    AND count(DISTINCT o.origin_id) = 1
)
SELECT
  m.module_id, m.instruction_id, m.element,
  max(p.allocation_id) AS allocation_id
FROM copies AS m
JOIN described_parameters AS p
  ON p.module_id = m.module_id
  AND p.number = m.parameter_number
GROUP BY m.module_id, m.instruction_id, m.element
HAVING count(*) = 1
