-- step: Results that replace no argument, in programs that replace some, have
--   several results, or return what a loop collects; of the latter every form
--   that they have on their way.
-- grain: value
WITH results AS MATERIALIZED (
  SELECT DISTINCT v.*
  FROM result_places() AS r
  JOIN arrays AS v
    ON v.module_id = r.module_id
    AND v.allocation_id = r.allocation_id
    AND v.value_id = r.value_id
  WHERE v.kind = 'live_out'
),
several AS MATERIALIZED (
  SELECT module_id
  FROM result_places()
  GROUP BY module_id
  HAVING count(*) > 1
)
SELECT
  r.*, 'result ' || r.element_type || '[' || r.dimensions || ']' AS subject,
  FALSE AS is_history
FROM results AS r
ANTI JOIN histories AS h
  ON h.module_id = r.module_id
  AND h.value_id = r.value_id
ANTI JOIN argument_places AS p
  ON p.module_id = r.module_id
  AND p.allocation_id = r.allocation_id
WHERE r.module_id IN (SELECT u.module_id FROM updating_programs AS u)
  OR r.module_id IN (SELECT s.module_id FROM several AS s)
UNION ALL
SELECT v.*, 'what ' || h.loop_name || ' collects', TRUE
FROM arrays AS v
JOIN histories AS h
  ON h.module_id = v.module_id
  AND h.value_id = v.value_id
SEMI JOIN results AS r
  ON r.module_id = v.module_id
  AND r.allocation_id = v.allocation_id
