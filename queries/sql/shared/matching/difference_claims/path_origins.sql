-- step: Edits whose paths hold the path of a buffer. Without names of scopes
--   many operations have one path: of several edits those count whose line
--   computes it, else those of its function if all were added, removed or
--   replaced there. What follows from the others has lines of its own.
-- grain: pair, memory space, row of buffer_changes, edit
WITH found AS (
  SELECT DISTINCT b.pair, b.space_color, b.number, p.place
  FROM buffer_paths AS b
  JOIN edit_paths AS p USING (pair, is_own, op_path)
  ANTI JOIN kinds_of_edits AS c USING (pair, space_color, number)
),
measured AS (
  SELECT
    f.*, e.change IN ('added', 'removed', 'replaced') AS is_of_function,
    coalesce(max(CASE
      WHEN NOT ends_with(l.source_file, e.source_path) THEN 0
      WHEN l.source_line = CASE
        WHEN l.is_own THEN e.candidate_line ELSE e.base_line
      END THEN 2
      WHEN l.function_name = e.function_name THEN 1
      ELSE 0
    END), 0) AS nearness
  FROM found AS f
  JOIN edits AS e USING (pair, place)
  LEFT JOIN buffer_lines AS l USING (pair, space_color, number)
  GROUP BY f.pair, f.space_color, f.number, f.place, e.change
)
SELECT m.pair, m.space_color, m.number, m.place
FROM measured AS m
WINDOW same_buffer AS (PARTITION BY m.pair, m.space_color, m.number)
QUALIFY max(m.nearness) OVER same_buffer = m.nearness
  OR max(m.nearness) OVER same_buffer = 1
  AND NOT bool_and(m.is_of_function) OVER same_buffer
