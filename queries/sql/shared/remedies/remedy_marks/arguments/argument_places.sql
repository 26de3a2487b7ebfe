-- step: Where an argument is, and where what replaces it is.
-- grain: argument, allocation
SELECT
  a.module_id, a.allocation_id, a.name, a.dimensions, a.element_type
FROM arguments AS a
UNION
SELECT a.module_id, p.output_id, a.name, a.dimensions, a.element_type
FROM arguments AS a
JOIN missed_pairs AS p
  ON p.module_id = a.module_id
  AND p.parameter_id = a.allocation_id
