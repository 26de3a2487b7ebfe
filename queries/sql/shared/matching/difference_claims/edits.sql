-- step: The edits of their sources, with the rule of each. effect: 1 where it
--   needs more memory, -1 where less, 0 where that depends.
-- grain: pair, edit
SELECT
  e.*, coalesce(r.effect, 0) AS effect,
  -- A rule that was measured in one pair at most is not known to be right.
  coalesce(r.told_count > 1 AND r.right_count >= 0.8 * r.told_count, FALSE)
    AS is_mostly_right,
  count(*) OVER (PARTITION BY e.pair) AS edit_count
FROM source_edits(
  base_runs := (
    SELECT list(p.base_run ORDER BY p.pair) FROM compiled_pairs AS p
  ),
  base_ids := (
    SELECT list(p.base_source ORDER BY p.pair) FROM compiled_pairs AS p
  ),
  candidate_runs := (
    SELECT list(p.own_run ORDER BY p.pair) FROM compiled_pairs AS p
  ),
  candidate_ids := (
    SELECT list(p.own_source ORDER BY p.pair) FROM compiled_pairs AS p
  ),
  with_paths := TRUE
) AS e
LEFT JOIN cause_rules() AS r USING (rule_id, change)
