-- step: Arrays of all steps that loops of a function return in the candidate,
--   not for a backward pass, where the base has no array of their shape. They
--   have a part for each step: a cache that a loop writes into is none.
-- grain: pair, function, number of steps
SELECT
  s.pair, s.inner_file, s.inner_function, s.trip_count,
  string_agg(s.shape, ', ' ORDER BY s.size_bytes DESC, s.shape)
    AS stored_shapes, sum(s.size_bytes) AS stored_bytes
FROM (
  SELECT DISTINCT
    u.pair, n.file_name AS inner_file, n.function_name AS inner_function,
    z.trip_count, u.shape, u.size_bytes
  FROM unmatched_operations AS u
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  ANTI JOIN operations AS b
    ON b.pair = u.pair
    AND NOT b.is_candidate
    AND b.shape = u.shape
  JOIN (
    SELECT DISTINCT pair, trip_count FROM loop_sizes WHERE is_candidate
  ) AS z
    ON z.pair = u.pair
    AND starts_with(u.dims, format('[{},', z.trip_count))
  WHERE u.is_candidate
    AND u.is_stacked
    AND NOT contains(u.op_name, 'jvp(')
    AND u.size_bytes >= 1048576
) AS s
GROUP BY s.pair, s.inner_file, s.inner_function, s.trip_count
