-- step: Results that replace no argument, in programs that replace some or
--   have other results, or that a loop collects; of the latter every form that
--   they have on their way. What all results are like is what the program
--   computes (is_answer): only of a loop may the caller read less of it.
--   new_states and grown_results are no such results, nor is what only waits
--   in the memory of a result, with other dimensions or another type, such as
--   values that are saved for the backward pass.
-- grain: value
WITH likenesses AS MATERIALIZED (
  SELECT
    p.module_id, v.dimensions, v.element_type,
    count(DISTINCT p.output_index) AS output_count,
    sum(output_count) OVER (PARTITION BY p.module_id) AS total_count
  FROM result_places() AS p
  JOIN described_values AS v
    ON v.module_id = p.module_id
    AND v.allocation_id = p.allocation_id
    AND v.value_id = p.value_id
  WHERE v.shape NOT LIKE '(%'
  GROUP BY p.module_id, v.dimensions, v.element_type
)
SELECT
  r.*,
  CASE l.output_count WHEN 1 THEN 'result ' ELSE l.output_count || ' results '
    END || r.element_type || '[' || r.dimensions || ']' AS subject,
  FALSE AS is_history, FALSE AS is_answer
FROM returned_arrays AS r
JOIN likenesses AS l USING (module_id, dimensions, element_type)
ANTI JOIN histories AS h
  ON h.module_id = r.module_id
  AND h.value_id = r.value_id
ANTI JOIN argument_places AS p
  ON p.module_id = r.module_id
  AND p.allocation_id = r.allocation_id
ANTI JOIN new_states AS n
  ON n.module_id = r.module_id
  AND n.dimensions = r.dimensions
ANTI JOIN grown_results AS g
  ON g.module_id = r.module_id
  AND g.value_id = r.value_id
WHERE r.module_id IN (SELECT u.module_id FROM updating_programs AS u)
  OR l.output_count < l.total_count
UNION ALL
SELECT v.*, 'history that ' || h.loop_name || ' collects', TRUE,
  coalesce(l.output_count = l.total_count, FALSE)
FROM arrays AS v
LEFT JOIN likenesses AS l USING (module_id, dimensions, element_type)
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
