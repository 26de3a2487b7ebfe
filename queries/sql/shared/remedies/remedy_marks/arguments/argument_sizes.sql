-- step: Dimensions of arguments that are no inputs, in any order, with and
--   without the first one, over which a loop may go.
-- grain: program, dimensions
SELECT DISTINCT
  a.module_id, list_sort(string_split(a.dimensions, ',')) AS sizes
FROM arguments AS a
WHERE a.dimensions LIKE '%,%'
  AND NOT a.is_input
UNION
SELECT DISTINCT
  a.module_id, list_sort(string_split(a.dimensions, ',')[2:]) AS sizes
FROM arguments AS a
WHERE a.dimensions LIKE '%,%,%'
  AND NOT a.is_input
