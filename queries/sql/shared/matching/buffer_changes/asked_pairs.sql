-- step: The pairs of contents that are asked for, by their position in the
--   lists.
-- grain: pair
SELECT
  unnest(range(1, len($base_ids) + 1)) AS pair,
  unnest($base_ids) AS base_id, unnest($candidate_ids) AS candidate_id
