-- step: Edits whose paths hold the path of a buffer.
-- grain: pair, memory space, row of buffer_changes, edit
SELECT DISTINCT b.pair, b.space_color, b.number, p.place
FROM buffer_paths AS b
JOIN edit_paths AS p USING (pair, is_own, op_path)
ANTI JOIN kinds_of_edits AS c USING (pair, space_color, number)
