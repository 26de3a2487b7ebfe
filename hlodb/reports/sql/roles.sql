-- What is live at the peak of the modules $modules by role: module, colour, role.
SELECT
  r.module_id, r.color, r.role, CAST(sum(r.owned_bytes) AS BIGINT) AS owned_bytes
FROM peak_roles(
  module_ids := from_json($modules, '["BIGINT"]'), every_run := TRUE
) AS r
GROUP BY r.module_id, r.color, r.role
ORDER BY r.module_id, r.color, r.role
