-- step: Groups of the same operations on both sides that one side computes in
--   more loops: outside of one they are there for all of its steps at once.
-- grain: pair, file, function
SELECT
  g.pair, g.source_file, g.function_name,
  max(coalesce(l.loops, 0)) FILTER (WHERE g.is_candidate)
    < min(coalesce(l.loops, 0)) FILTER (WHERE NOT g.is_candidate)
    AS is_out_of_loop,
  max(coalesce(l.loops, 0)) FILTER (WHERE NOT g.is_candidate)
    < min(coalesce(l.loops, 0)) FILTER (WHERE g.is_candidate) AS is_in_loop,
  array_to_string(
    list_distinct(list(g.operation ORDER BY g.instruction_id) FILTER (
      WHERE g.opcode NOT IN ('broadcast', 'reshape', 'convert')
    ))[:3], ', '
  ) AS operations
FROM grouped_operations AS g
LEFT JOIN loops_around AS l USING (pair, is_candidate, computation_id)
WHERE NOT g.is_backward
  AND NOT g.is_recomputed
GROUP BY g.pair, g.source_file, g.function_name
HAVING is_out_of_loop OR is_in_loop
