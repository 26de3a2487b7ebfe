-- step: Names of the operations of a group, on each side, those first that say
--   most of it. Those of the forward pass name it, if there are any, and what
--   has a result of half the largest before what has less; where each side has
--   products, scatters, sorts or transforms, these come first. Arithmetic, and
--   conversions even more, say little of what is computed. The unnamed are
--   there, but name nothing. Where one side has nothing but integers of random
--   numbers, that is left out: another key is drawn, or another part of it.
--   Where the program has half of them as often elsewhere on the other side,
--   those moved, and name nothing.
-- grain: pair, file, function
WITH operation_sums AS (
  SELECT
    pair, source_file, function_name, is_candidate, operation,
    bool_or(is_once) AS is_forward,
    coalesce(bool_and(is_relocated) FILTER (WHERE is_once), FALSE)
      AS is_relocated,
    coalesce(sum(size_bytes) FILTER (WHERE is_once AND is_whole), 0)
      AS result_bytes,
    coalesce(max(size_bytes) FILTER (WHERE is_once AND is_whole), 0)
      AS largest_bytes,
    -- The bytes of what such an operation returns are not in its type.
    bool_or(
      opcode NOT IN ('while', 'reduce') AND element_type = 'tuple'
    ) AS returns_tuple,
    bool_and(element_type IN ('u32', 'u64')) AS is_of_bits,
    bool_or(
      is_once AND opcode IN ('convolution', 'dot', 'fft', 'scatter', 'sort')
    ) AS is_telling,
    min(instruction_id) AS first_id,
    arg_max(line, (is_once, size_bytes, -instruction_id)) AS line
  FROM (
    SELECT
      g.*, NOT g.is_backward AND NOT g.is_recomputed AS is_once,
      r.pair IS NOT NULL AS is_relocated,
      -- What arithmetic needs of its operands is no array of its own.
      g.opcode = 'broadcast' AND g.operation = 'broadcast_in_dim'
      OR g.opcode NOT IN ('broadcast', 'iota', 'reshape') AS is_whole
    FROM grouped_operations AS g
    LEFT JOIN relocated_operations AS r
      USING (pair, is_candidate, operation, shape)
  )
  GROUP BY pair, source_file, function_name, is_candidate, operation
),
named_operations AS (
  SELECT
    s.*,
    (s.is_forward OR NOT bool_or(s.is_forward) OVER same_side)
    AND NOT (
      s.is_relocated
      AND 2 * count_if(s.is_relocated) OVER same_side
        >= count_if(s.is_forward) OVER same_side
    ) AS is_named,
    CASE
      WHEN s.is_telling
        AND bool_or(s.is_telling AND s.is_candidate) OVER same_group
        AND bool_or(s.is_telling AND NOT s.is_candidate) OVER same_group
        THEN -1
      WHEN s.operation = 'convert_element_type' THEN 3
      WHEN s.returns_tuple THEN 0
      WHEN 2 * s.largest_bytes < max(s.largest_bytes) OVER same_side THEN 2
      WHEN s.operation IN (
        'add', 'add_any', 'and', 'broadcast_in_dim', 'div', 'eq', 'ge', 'gt',
        'iota', 'le', 'lt', 'max', 'min', 'mul', 'ne', 'neg', 'not', 'or',
        'reshape', 'select_n', 'slice', 'squeeze', 'sub', 'transpose', ''
      ) THEN 1
      ELSE 0
    END AS place
  FROM operation_sums AS s
  WINDOW same_side AS (
    PARTITION BY s.pair, s.source_file, s.function_name, s.is_candidate
  ),
  same_group AS (PARTITION BY s.pair, s.source_file, s.function_name)
  QUALIFY NOT (
    bool_and(s.is_of_bits OR s.returns_tuple) OVER same_side
    AND bool_or(s.is_of_bits) OVER same_side
  )
  OR bool_and(s.is_of_bits OR s.returns_tuple) OVER (
    PARTITION BY s.pair, s.source_file, s.function_name
  )
)
SELECT
  pair, source_file, function_name,
  list(operation ORDER BY place, result_bytes DESC, first_id)
    FILTER (WHERE NOT is_candidate) AS base_operations,
  list(operation ORDER BY place, result_bytes DESC, first_id)
    FILTER (WHERE is_candidate) AS candidate_operations,
  coalesce(
    list(operation) FILTER (WHERE NOT is_named AND NOT is_candidate), []
  ) AS base_unnamed,
  coalesce(
    list(operation) FILTER (WHERE NOT is_named AND is_candidate), []
  ) AS candidate_unnamed,
  map(
    list(coalesce(operation, '')) FILTER (WHERE is_candidate),
    list(line) FILTER (WHERE is_candidate)
  ) AS candidate_lines
FROM named_operations
GROUP BY pair, source_file, function_name
