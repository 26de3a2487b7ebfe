-- title: Places of a program's results
-- question: In which allocation is each element of the program's result?
-- definition: Values at the root of the entry computation, by index into the
--   result, with their allocation. Of modules with HLO text and a buffer
--   assignment.
-- grain: module content, output index
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column output_index VARCHAR name neutral: Index into the result, {} for an
--   array.
-- column allocation_id
-- column value_id
SELECT DISTINCT
  p.module_id, coalesce(p.shape_index, '{}') AS output_index, s.allocation_id,
  s.value_id
FROM (
  SELECT DISTINCT m.module_id, c.root_instruction_id AS instruction_id
  FROM selected_contents() AS o
  JOIN store.snapshots AS m USING (module_id)
  JOIN computations AS c
    ON c.module_id = m.module_id
    AND c.computation_id = m.entry_computation_id
) AS r
JOIN store.value_positions AS p USING (module_id, instruction_id)
JOIN allocation_values AS s
  ON s.module_id = p.module_id
  AND s.value_id = p.value_id
