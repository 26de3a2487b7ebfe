-- step: Results that replace no argument, in programs that replace some, have
--   several results, or return what a loop collects; of the latter every form
--   that they have on their way. new_states are no such results, nor is what
--   only waits in the memory of a result, with other dimensions or another
--   type, such as values that are saved for the backward pass.
-- grain: value
WITH several AS MATERIALIZED (
  SELECT module_id
  FROM result_places()
  GROUP BY module_id
  HAVING count(*) > 1
)
SELECT
  r.*, 'result ' || r.element_type || '[' || r.dimensions || ']' AS subject,
  FALSE AS is_history
FROM returned_arrays AS r
ANTI JOIN histories AS h
  ON h.module_id = r.module_id
  AND h.value_id = r.value_id
ANTI JOIN argument_places AS p
  ON p.module_id = r.module_id
  AND p.allocation_id = r.allocation_id
ANTI JOIN new_states AS n
  ON n.module_id = r.module_id
  AND n.dimensions = r.dimensions
WHERE r.module_id IN (SELECT u.module_id FROM updating_programs AS u)
  OR r.module_id IN (SELECT s.module_id FROM several AS s)
UNION ALL
SELECT v.*, 'history that ' || h.loop_name || ' collects', TRUE
FROM arrays AS v
JOIN histories AS h
  ON h.module_id = v.module_id
  AND h.value_id = v.value_id
SEMI JOIN returned_arrays AS r
  ON r.module_id = v.module_id
  AND r.allocation_id = v.allocation_id
  AND r.dimensions = v.dimensions
  AND r.element_type = v.element_type
ANTI JOIN new_states AS n
  ON n.module_id = v.module_id
  AND n.dimensions = v.dimensions
  AND n.is_kept
