-- step: Edits that compute what a loop stacks for another one: in the loop,
--   and of the shape of a part of such an array. What differs there is then
--   what was edited, and the stack is there because of it, for the backward
--   pass alone: nothing else reads all of it.
-- grain: pair, edit of a stack
WITH stacks AS (
  SELECT
    e.pair, e.first_rank, e.candidate_text IS NOT NULL AS is_candidate,
    coalesce(e.candidate_text, e.base_text) AS shapes,
    list_transform(
      string_split(shapes, ', '),
      lambda x: '[' || regexp_extract(x, '\[\d+,([\d,]+)\]', 1) || ']'
    ) AS parts,
    list_transform(
      string_split(shapes, ', '), lambda x: regexp_extract(x, '\[.*\]')
    ) AS wholes,
    e.delta_bytes, e.base_paths, e.candidate_paths
  FROM group_edits AS e
  WHERE e.change = 'stack'
),
-- Read as a whole in the forward pass, as what the body of a loop returns.
read_forward AS (
  SELECT DISTINCT s.pair, s.first_rank
  FROM stacks AS s
  JOIN grouped_operations AS g
    ON g.pair = s.pair
    AND g.is_candidate = s.is_candidate
    AND NOT g.is_backward
    AND NOT g.is_stacked
    AND g.opcode <> 'broadcast'
    AND NOT starts_with(g.operation, 'dynamic_update')
    AND list_contains(s.wholes, g.dims)
),
written AS (
  SELECT
    s.pair, s.first_rank, max(l.loops) AS loops
  FROM stacks AS s
  JOIN grouped_operations AS g
    ON g.pair = s.pair
    AND g.is_candidate = s.is_candidate
    AND g.is_stacked
  JOIN loops_around AS l
    ON l.pair = g.pair
    AND l.is_candidate = g.is_candidate
    AND l.computation_id = g.computation_id
  GROUP BY s.pair, s.first_rank
)
SELECT
  s.pair, s.first_rank AS stack_rank,
  arg_min(r.rank, (r.change <> 'random', -o.size_bytes, r.rank)) AS maker_rank,
  any_value(s.is_candidate) AS is_added, any_value(s.shapes) AS shapes,
  any_value(s.delta_bytes) AS delta_bytes, any_value(s.base_paths)
    AS base_paths, any_value(s.candidate_paths) AS candidate_paths
FROM stacks AS s
SEMI JOIN unmatched_operations AS b
  ON b.pair = s.pair
  AND b.is_candidate = s.is_candidate
  AND b.is_backward
  AND list_contains(s.parts, b.dims)
JOIN written AS w
  ON w.pair = s.pair
  AND w.first_rank = s.first_rank
ANTI JOIN read_forward AS f
  ON f.pair = s.pair
  AND f.first_rank = s.first_rank
JOIN ranked_groups AS r
  ON r.pair = s.pair
  AND r.change IN ('added', 'random', 'removed', 'replaced')
  AND coalesce(r.base_text, r.candidate_text) IS NOT NULL
JOIN group_edits AS e
  ON e.pair = r.pair
  AND e.first_rank = r.rank
JOIN grouped_operations AS o
  ON o.pair = s.pair
  AND o.is_candidate = s.is_candidate
  AND o.source_file = r.source_file
  AND o.function_name = r.function_name
  AND list_contains(s.parts, o.dims)
  AND NOT o.is_backward
  AND NOT o.is_recomputed
  AND o.opcode NOT IN (
    'slice', 'dynamic-slice', 'reshape', 'broadcast', 'transpose', 'copy',
    'concatenate', 'convert', 'pad'
  )
JOIN loops_around AS l
  ON l.pair = o.pair
  AND l.is_candidate = o.is_candidate
  AND l.computation_id = o.computation_id
  AND l.loops >= w.loops
GROUP BY s.pair, s.first_rank
