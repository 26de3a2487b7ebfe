-- step: The pairs that are asked for, by their position in the lists.
-- grain: pair
SELECT
  unnest(range(1, len($base_runs) + 1)) AS pair,
  unnest($base_runs) AS base_run_id, unnest($base_places) AS base_place,
  unnest($candidate_runs) AS candidate_run_id,
  unnest($candidate_places) AS candidate_place
