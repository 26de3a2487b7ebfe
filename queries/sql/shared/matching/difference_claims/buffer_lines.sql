-- step: The lines that compute these buffers, but for those whose kind says
--   what they follow from.
-- grain: pair, memory space, row of buffer_changes, side
WITH open_sides AS MATERIALIZED (
  SELECT s.*
  FROM changed_sides AS s
  ANTI JOIN kinds_of_edits AS k USING (pair, space_color, number)
  WHERE s.value_id IS NOT NULL
    AND s.locations_id IS NOT NULL
)
SELECT
  s.pair, s.space_color, s.number, s.is_own, v.source_file, v.source_line,
  v.function_name, v.attribution
FROM open_sides AS s
JOIN value_sources(
  run := NULL, program := NULL, every_run := TRUE,
  module_ids := (
    SELECT coalesce(list(DISTINCT o.module_id), []) FROM open_sides AS o
  ),
  locations_ids := (
    SELECT coalesce(list(DISTINCT o.locations_id), []) FROM open_sides AS o
  )
) AS v
  ON v.module_id = s.module_id
  AND v.locations_id = s.locations_id
  AND v.value_id = s.value_id
