-- step: Results that one side puts into an argument of its own, and the other
--   into new memory: they are compared with that argument.
-- grain: pair, side, result
SELECT t.pair, t.is_candidate, t.place, d.output_index
FROM donation_changes(
  base_ids := (
    SELECT list(p.base_id ORDER BY p.pair) FROM asked_pairs AS p
  ),
  candidate_ids := (
    SELECT list(p.candidate_id ORDER BY p.pair) FROM asked_pairs AS p
  )
) AS d
JOIN compared_arrays AS t
  ON t.pair = d.pair
  AND t.is_candidate = d.is_lost
  AND t.allocation_id = d.allocation_id
  AND t.kind = 'live_out'
  AND t.is_counted
