-- step: Comparable matches with the runs of the window.
-- grain: run of the window, match
-- materialised: no
SELECT m.*
FROM laddered_pairs AS m
WHERE m.method IS NOT NULL
  AND m.base_has_assignment
  AND m.candidate_has_assignment
  AND m.differing_keys = ''
  AND len($window_ids) > 1
