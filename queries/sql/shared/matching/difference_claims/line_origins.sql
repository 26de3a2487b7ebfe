-- step: Edits at whose line a buffer is computed, of buffers that no path
--   leads from. What a loop or checkpoint keeps is computed elsewhere, and the
--   memory of an output is known, unless nothing else was edited.
-- grain: pair, memory space, row of buffer_changes, edit
WITH lines AS (
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
SELECT DISTINCT b.pair, b.space_color, b.number, l.place
FROM buffer_lines AS b
JOIN lines AS l USING (pair, is_own, source_line)
ANTI JOIN path_origins AS o USING (pair, space_color, number)
WHERE ends_with(b.source_file, l.source_path)
