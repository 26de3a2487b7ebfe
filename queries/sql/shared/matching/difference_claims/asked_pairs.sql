-- step: The pairs that are asked for. Arguments are read inside of macros,
--   where no table may have their names.
-- grain: pair
SELECT
  unnest(range(1, len($base_runs) + 1)) AS pair,
  unnest($base_runs) AS base_run, unnest($base_places) AS base_number,
  unnest($candidate_runs) AS own_run, unnest($candidate_places) AS own_number
