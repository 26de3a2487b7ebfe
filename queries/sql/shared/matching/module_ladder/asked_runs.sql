-- step: The pairs of runs that are asked for, by their position in the lists.
-- grain: pair
SELECT
  unnest($base_ids) AS base_run_id, unnest($candidate_ids) AS candidate_run_id,
  unnest(range(1, len($base_ids) + 1)) AS pair
