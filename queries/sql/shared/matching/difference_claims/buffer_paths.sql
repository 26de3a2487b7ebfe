-- step: Paths of the buffers. XLA puts the path of a call before the paths of
--   what it inlines.
-- grain: pair, memory space, row of buffer_changes, side
SELECT
  s.pair, s.space_color, s.number, s.is_own,
  array_to_string(list_filter(
    string_split(coalesce(s.op_path, b.op_path), '/'),
    lambda p: NOT regexp_full_match(
      p, 'p?jit\(.*\)|while|body|cond|closed_call|branch_\d+_fun'
    )
  ), '/') AS op_path
FROM changed_sides AS s
LEFT JOIN borrowed_paths AS b
  ON b.module_id = s.module_id
  AND b.name = s.name
  AND s.op_path IS NULL
WHERE coalesce(s.op_path, b.op_path) IS NOT NULL
