-- step: All edits, as they were found. What a loop stacks because of an edit
--   is of that edit: stored_shapes are the arrays that it stores, or no longer
--   stores.
-- grain: pair, edit
FROM constant_edits
UNION ALL BY NAME
FROM callback_edits
UNION ALL BY NAME
FROM output_edits
UNION ALL BY NAME
FROM argument_edits
UNION ALL BY NAME
FROM optimiser_edits
UNION ALL BY NAME
FROM loop_edits
UNION ALL BY NAME
FROM recomputation_edits
UNION ALL BY NAME
FROM gradient_edits
UNION ALL BY NAME
SELECT
  e.* REPLACE (
    e.delta_bytes + coalesce(k.delta_bytes, 0) AS delta_bytes,
    list_concat(e.base_paths, k.base_paths) AS base_paths,
    list_concat(e.candidate_paths, k.candidate_paths) AS candidate_paths
  ),
  k.stored_shapes, k.has_new_stack
FROM group_edits AS e
ANTI JOIN stack_makers AS s
  ON s.pair = e.pair
  AND s.stack_rank = e.first_rank
LEFT JOIN (
  SELECT
    pair, maker_rank, bool_or(is_added) AS has_new_stack,
    coalesce(
      string_agg(shapes, ', ' ORDER BY stack_rank) FILTER (WHERE is_added),
      string_agg(shapes, ', ' ORDER BY stack_rank)
    ) AS stored_shapes,
    sum(delta_bytes) AS delta_bytes, flatten(list(base_paths)) AS base_paths,
    flatten(list(candidate_paths)) AS candidate_paths
  FROM stack_makers
  GROUP BY pair, maker_rank
) AS k
  ON k.pair = e.pair
  AND k.maker_rank = e.first_rank
