-- step: Random masks that one side alone draws in a group which multiplies
--   matrices as often on both sides, as dropout does, or that have other
--   shapes where no product has: their shapes, what draws them, and the call
--   that draws most. Masks that are small beside all else of the group say
--   little of it; other random numbers are named as operations are.
-- grain: pair, file, function
WITH forward AS (
  SELECT
    g.*,
    g.opcode = 'call' AND g.operation = 'bernoulli' AS is_draw
  FROM grouped_operations AS g
  WHERE NOT g.is_backward
    AND NOT g.is_recomputed
    AND g.element_type <> 'tuple'
),
drawing AS (
  SELECT pair, source_file, function_name
  FROM forward
  GROUP BY pair, source_file, function_name
  HAVING CASE
      WHEN count(DISTINCT is_candidate) FILTER (WHERE is_draw) = 2
        THEN bool_or(is_draw AND is_start)
        AND count_if(opcode IN ('dot', 'convolution')) = 0
      ELSE TRUE
    END
    AND 8 * max(size_bytes) FILTER (WHERE is_draw) >= max(size_bytes)
    AND count_if(opcode IN ('dot', 'convolution') AND is_candidate)
      = count_if(opcode IN ('dot', 'convolution') AND NOT is_candidate)
)
SELECT
  f.pair, f.source_file, f.function_name,
  array_to_string(list_sort(list(DISTINCT f.shape) FILTER (
    WHERE NOT f.is_candidate
  ))[:3], ', ') AS base_shapes,
  array_to_string(list_sort(list(DISTINCT f.shape) FILTER (
    WHERE f.is_candidate
  ))[:3], ', ') AS candidate_shapes,
  array_to_string(list_sort(list(DISTINCT f.operation))[:3], ', ') AS names,
  count(*) AS draw_count,
  sum(CASE WHEN f.is_candidate THEN f.size_bytes ELSE -f.size_bytes END)
    AS delta_bytes,
  arg_max(
    struct_pack(
      file_name := n.file_name, function_name := n.function_name,
      line := n.line, element_type := f.element_type
    ), (f.size_bytes, -f.instruction_id)
  ) FILTER (WHERE f.is_candidate) AS inner_call
FROM forward AS f
SEMI JOIN drawing AS d USING (pair, source_file, function_name)
JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
WHERE f.is_draw
GROUP BY f.pair, f.source_file, f.function_name
HAVING base_shapes IS DISTINCT FROM candidate_shapes
