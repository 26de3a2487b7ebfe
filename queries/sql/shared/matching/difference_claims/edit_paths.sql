-- step: Paths of the edits, but for outputs whose memory is known beside
--   other edits.
-- grain: pair, edit, side, path
SELECT DISTINCT
  e.pair, e.place, e.is_own,
  array_to_string(list_filter(
    string_split(regexp_replace(e.op_name, '\[\w+=.*\]$', ''), '/'),
    lambda p: NOT regexp_full_match(
      p, 'p?jit\(.*\)|while|body|cond|closed_call|branch_\d+_fun'
    )
  ), '/') AS op_path
FROM (
  SELECT
    pair, place, edit_count, FALSE AS is_own,
    unnest(string_split(base_paths, chr(10))) AS op_name
  FROM edits
  UNION ALL
  SELECT
    pair, place, edit_count, TRUE,
    unnest(string_split(candidate_paths, chr(10)))
  FROM edits
) AS e
LEFT JOIN results_of_outputs AS r USING (pair, place)
WHERE e.op_name <> ''
  AND (r.place IS NULL OR e.edit_count = 1)
