-- Source lines of values, by value_sources: $modules, $locations and $values lie side
-- by side.
WITH wanted AS (
  SELECT
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($locations, '["BIGINT"]')) AS locations_id,
    unnest(from_json($values, '["INTEGER"]')) AS value_id
)
SELECT
  s.module_id, s.locations_id, s.value_id, s.attribution, s.source_file, s.source_line
FROM value_sources(
  module_ids := list_distinct(from_json($modules, '["BIGINT"]')),
  locations_ids := list_distinct(from_json($locations, '["BIGINT"]')),
  value_modules := from_json($modules, '["BIGINT"]'),
  value_ids := from_json($values, '["BIGINT"]'),
  every_run := TRUE
) AS s
SEMI JOIN wanted AS w USING (module_id, locations_id, value_id)
WHERE s.source_file IS NOT NULL
