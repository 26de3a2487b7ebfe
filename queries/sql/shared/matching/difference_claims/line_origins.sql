-- step: Edits at whose line a buffer is computed, of buffers that no path
--   leads from. What a loop or checkpoint keeps is computed elsewhere, and the
--   memory of an output is known, unless nothing else was edited.
-- grain: pair, memory space, row of buffer_changes, edit
WITH open_sides AS MATERIALIZED (
  SELECT s.*
  FROM changed_sides AS s
  ANTI JOIN kinds_of_edits AS c USING (pair, space_color, number)
  ANTI JOIN path_origins AS o USING (pair, space_color, number)
  WHERE s.value_id IS NOT NULL
    AND s.locations_id IS NOT NULL
),
lines AS (
  SELECT
    pair, place, source_path, unnest([FALSE, TRUE]) AS is_own,
    unnest([base_line, candidate_line]) AS source_line
  FROM edits
  WHERE source_path IS NOT NULL
    AND is_line_edited
    AND (
      edit_count = 1
      OR (pair, place) NOT IN (
        SELECT (r.pair, r.place) FROM results_of_outputs AS r
      )
    )
    AND change NOT IN ('loop', 'recomputation')
)
SELECT DISTINCT s.pair, s.space_color, s.number, l.place
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
JOIN lines AS l
  ON l.pair = s.pair
  AND l.is_own = s.is_own
  AND l.source_line = v.source_line
WHERE ends_with(v.source_file, l.source_path)
