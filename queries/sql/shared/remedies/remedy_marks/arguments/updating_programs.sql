-- step: Programs that replace some of their arguments.
-- grain: program
SELECT module_id FROM missed_pairs
UNION
SELECT a.module_id
FROM selected_contents() AS c
JOIN allocations AS a USING (module_id)
WHERE a.parameter_number IS NOT NULL
  AND a.is_live_out
