-- step: The pairs that are asked for, by their position in the lists.
-- grain: asked pair
SELECT
  unnest(range(1, len($base_runs) + 1)) AS asked_number,
  unnest($base_runs) AS base_run, unnest($base_places) AS base_number,
  unnest($candidate_runs) AS candidate_run,
  unnest($candidate_places) AS candidate_number,
  unnest($main_parts) AS main_part
