-- step: Programs that replace some of their arguments. A number that is read
--   and another that is returned are of one shape by chance.
-- grain: program
SELECT p.module_id
FROM missed_pairs AS p
JOIN arguments AS a
  ON a.module_id = p.module_id
  AND a.allocation_id = p.parameter_id
WHERE a.dimensions <> ''
UNION
SELECT a.module_id
FROM selected_contents() AS c
JOIN allocations AS a USING (module_id)
WHERE a.parameter_number IS NOT NULL
  AND a.is_live_out
