-- step: The contents that are asked for, by their position in the lists.
-- grain: pair, side
SELECT * FROM (
  SELECT
    unnest(range(1, len($base_ids) + 1)) AS pair, FALSE AS is_candidate,
    unnest($base_ids) AS module_id, unnest($base_arenas) AS arena_id
  UNION ALL
  SELECT
    unnest(range(1, len($base_ids) + 1)), TRUE, unnest($candidate_ids),
    unnest($candidate_arenas)
)
WHERE module_id IS NOT NULL
