-- Role at the peak and readers of values, in the order of the schedule: at most
-- $most names of each, and their count. $modules and $values lie side by side.
WITH wanted AS (
  SELECT DISTINCT
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($values, '["INTEGER"]')) AS value_id
),
roles AS (
  SELECT r.module_id, r.value_id, any_value(r.role) AS role
  FROM peak_roles(
    module_ids := list_distinct(from_json($modules, '["BIGINT"]')),
    every_run := TRUE
  ) AS r
  GROUP BY r.module_id, r.value_id
),
readings AS (
  SELECT DISTINCT u.module_id, u.value_id, u.instruction_id
  FROM wanted AS w
  JOIN store.value_uses AS u USING (module_id, value_id)
),
readers AS (
  SELECT
    u.module_id, u.value_id, count(*) AS reader_count,
    list(i.name ORDER BY coalesce(i.schedule_step, 2147483647), i.name)
      [:CAST($most AS INTEGER)] AS names
  FROM readings AS u
  JOIN store.instructions AS i USING (module_id, instruction_id)
  GROUP BY u.module_id, u.value_id
)
SELECT w.module_id, w.value_id, r.role, e.names, coalesce(e.reader_count, 0)
FROM wanted AS w
LEFT JOIN roles AS r USING (module_id, value_id)
LEFT JOIN readers AS e USING (module_id, value_id)
