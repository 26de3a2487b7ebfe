-- step: Groups of the same operations on both sides that one side computes in
--   more loops: outside of one they are there for all of its steps at once.
--   is_draw: so are the random numbers of a group, whatever else it has.
-- grain: pair, file, function
WITH forward AS (
  SELECT
    g.*, coalesce(l.loops, 0) AS loops,
    g.opcode = 'call'
      AND g.operation IN (
        'bernoulli', 'gumbel', 'normal', 'randint', 'truncated_normal',
        'uniform'
      ) AS is_draw
  FROM grouped_operations AS g
  LEFT JOIN loops_around AS l USING (pair, is_candidate, computation_id)
  WHERE NOT g.is_backward
    AND NOT g.is_recomputed
),
drawing AS (
  SELECT pair, source_file, function_name
  FROM forward
  WHERE is_draw
  GROUP BY pair, source_file, function_name
  HAVING count(DISTINCT is_candidate) = 2
)
SELECT
  f.pair, f.source_file, f.function_name,
  d.pair IS NOT NULL AS is_draw,
  max(f.loops) FILTER (WHERE f.is_candidate)
    < min(f.loops) FILTER (WHERE NOT f.is_candidate) AS is_out_of_loop,
  max(f.loops) FILTER (WHERE NOT f.is_candidate)
    < min(f.loops) FILTER (WHERE f.is_candidate) AS is_in_loop,
  array_to_string(
    list_distinct(list(f.operation ORDER BY f.instruction_id) FILTER (
      WHERE f.opcode NOT IN ('broadcast', 'reshape', 'convert')
    ))[:3], ', '
  ) AS operations
FROM forward AS f
LEFT JOIN drawing AS d USING (pair, source_file, function_name)
WHERE f.is_draw
  OR d.pair IS NULL
GROUP BY f.pair, f.source_file, f.function_name, d.pair
HAVING is_out_of_loop OR is_in_loop
