-- step: Loops that go through the same data in fewer, larger steps, or in
--   more, smaller ones: what the body computes of one name has as many more
--   elements as there are fewer trips, or the reverse.
-- grain: pair, loop
WITH sizes AS (
  SELECT
    l.pair, l.is_backward, l.user_function, l.loop_number, l.is_candidate,
    l.trip_count, o.key,
    list_product(CAST(string_split(trim(o.dims, '[]'), ',') AS DOUBLE[]))
      AS elements
  FROM unmatched_loops AS l
  JOIN loop_contents AS t USING (pair, is_candidate, instruction_id)
  JOIN operations AS o
    ON o.pair = t.pair
    AND o.is_candidate = t.is_candidate
    AND o.computation_id = t.computation_id
  WHERE o.may_start
)
SELECT DISTINCT
  s.pair, s.is_backward, s.user_function, s.loop_number,
  CASE
    WHEN max(s.trip_count) FILTER (WHERE s.is_candidate)
      < max(s.trip_count) FILTER (WHERE NOT s.is_candidate)
      THEN 'larger steps'
    ELSE 'smaller steps'
  END AS words
FROM sizes AS s
GROUP BY s.pair, s.is_backward, s.user_function, s.loop_number, s.key
HAVING 2 * count_if(s.is_candidate) = count(*)
  AND count(DISTINCT s.trip_count) = 2
  -- Sums of few whole numbers, which are exact.
  AND sum(s.elements * s.trip_count) FILTER (WHERE s.is_candidate)
    = sum(s.elements * s.trip_count) FILTER (WHERE NOT s.is_candidate)
