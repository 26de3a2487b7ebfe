-- step: Pairs with whether both are comparable, and whether the program is in
--   the last run, too.
-- grain: pair
SELECT
  p.* EXCLUDE (base_id), coalesce(p.base_id, c.module_id) AS base_id,
  coalesce(
    c.is_comparable, list_contains(p.comparable_shapes, p.base_shape)
  ) AS is_comparable,
  e.lacking_run_id IS NULL AS is_there
FROM placed_pairs AS p
LEFT JOIN compared_pairs AS c USING (pair)
LEFT JOIN track_ends AS e ON e.track = p.track
