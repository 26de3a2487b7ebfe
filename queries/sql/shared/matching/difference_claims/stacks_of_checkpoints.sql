-- step: What loops stack follows from the edit of a checkpoint, where no path
--   or line leads to another edit, nor the function that computes it, and no
--   loop of both sides is edited itself; and from loops that one side has
--   alone.
-- grain: pair, memory space, row of buffer_changes
SELECT DISTINCT s.pair, s.space_color, s.number, e.place
FROM changed_sides AS s
JOIN changed_buffers AS c USING (pair, space_color, number)
JOIN edits AS t
  ON t.pair = s.pair
  AND t.change = 'recomputation'
JOIN edits AS e
  ON e.pair = s.pair
  AND (
    e.change = 'recomputation'
    OR e.change = 'loop' AND (e.base_text IS NULL OR e.candidate_text IS NULL)
  )
LEFT JOIN buffer_lines AS b USING (pair, space_color, number, is_own)
ANTI JOIN kinds_of_edits AS k USING (pair, space_color, number)
ANTI JOIN path_origins AS o USING (pair, space_color, number)
ANTI JOIN line_origins AS l USING (pair, space_color, number)
ANTI JOIN edits AS i
  ON i.pair = s.pair
  AND (
    i.change = 'stack'
    OR i.change = 'loop'
    AND i.base_text IS NOT NULL
    AND i.candidate_text IS NOT NULL
    OR i.change IN ('added', 'removed', 'replaced')
    AND i.function_name = b.function_name
    AND ends_with(b.source_file, i.source_path)
  )
WHERE c.part IN ('new', 'gone')
  AND (
    b.attribution = 'stored'
    OR b.attribution = 'read'
    AND b.function_name = t.function_name
    AND b.source_line IN (t.base_line, t.candidate_line)
    OR regexp_matches(
      s.op_path, '(^|/)(while|dynamic_update_(slice|index_in_dim))$'
    )
  )
