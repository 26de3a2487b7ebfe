-- step: Modules of the candidate that have no comparable partner yet.
-- grain: module of the candidate
SELECT d.candidate_place
FROM direct_pairs AS d
ANTI JOIN compiled_again AS a ON a.candidate_place = d.candidate_place
ANTI JOIN window_pairs AS w ON w.candidate_place = d.candidate_place
WHERE d.candidate_has_assignment
  AND $follow
  AND (
    d.base_place IS NULL
    OR NOT d.base_has_assignment
    OR (d.differing_keys <> '' AND d.is_same_device)
  )
