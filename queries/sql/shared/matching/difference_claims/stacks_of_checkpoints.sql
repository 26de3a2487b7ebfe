-- step: What loops stack follows from the edit of a checkpoint, where no path
--   or line leads to another edit, nor the function that computes it, and no
--   loop is edited itself.
-- grain: pair, memory space, row of buffer_changes
SELECT DISTINCT s.pair, s.space_color, s.number, e.place
FROM changed_sides AS s
JOIN changed_buffers AS c USING (pair, space_color, number)
JOIN edits AS e
  ON e.pair = s.pair
  AND e.change = 'recomputation'
LEFT JOIN buffer_lines AS b USING (pair, space_color, number, is_own)
ANTI JOIN kinds_of_edits AS k USING (pair, space_color, number)
ANTI JOIN path_origins AS o USING (pair, space_color, number)
ANTI JOIN line_origins AS l USING (pair, space_color, number)
ANTI JOIN edits AS i
  ON i.pair = s.pair
  AND (
    i.change IN ('loop', 'stack')
    OR i.change IN ('added', 'removed', 'replaced')
    AND i.function_name = b.function_name
    AND ends_with(b.source_file, i.source_path)
  )
WHERE c.part IN ('new', 'gone')
  AND (
    b.attribution = 'stored'
    OR regexp_matches(
      s.op_path, '(^|/)(while|dynamic_update_(slice|index_in_dim))$'
    )
  )
