-- step: Results that replace no argument, in programs that replace some, have
--   several results, or return what a loop collects; of the latter every form
--   that they have on their way. Results with the dimensions of weights or
--   state, or with parts or multiples of them in programs for several devices,
--   are new weights and state.
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
),
new_states AS (
  SELECT DISTINCT r.module_id, r.dimensions
  FROM results AS r
  JOIN arguments AS a
    ON a.module_id = r.module_id
    AND NOT a.is_input
    AND a.dimensions LIKE '%,%'
  WHERE a.dimensions = r.dimensions
    OR (
      r.module_id IN (
        SELECT m.module_id FROM modules AS m WHERE m.num_partitions > 1
      )
      AND len(string_split(a.dimensions, ','))
        = len(string_split(r.dimensions, ','))
      AND list_bool_and(list_transform(
        list_zip(
          string_split(a.dimensions, ','), string_split(r.dimensions, ',')
        ),
        lambda pair: greatest(CAST(pair[1] AS BIGINT), CAST(pair[2] AS BIGINT))
          % greatest(1, least(
            CAST(pair[1] AS BIGINT), CAST(pair[2] AS BIGINT)
          )) = 0
      ))
    )
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
SEMI JOIN results AS r
  ON r.module_id = v.module_id
  AND r.allocation_id = v.allocation_id
