-- step: Loops that go through the same data in fewer, larger steps, or in
--   more, smaller ones: what the body computes of one name has as many more
--   elements as there are fewer trips, or the reverse; or all that has another
--   number of elements has more where there are fewer trips, such as where
--   windows overlap.
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
),
keys AS (
  SELECT
    s.pair, s.is_backward, s.user_function, s.loop_number,
    max(s.trip_count) FILTER (WHERE NOT s.is_candidate) AS base_trips,
    max(s.trip_count) FILTER (WHERE s.is_candidate) AS candidate_trips,
    sum(s.elements) FILTER (WHERE NOT s.is_candidate) AS base_elements,
    sum(s.elements) FILTER (WHERE s.is_candidate) AS candidate_elements
  FROM sizes AS s
  GROUP BY
    s.pair, s.is_backward, s.user_function, s.loop_number, s.key
  HAVING 2 * count_if(s.is_candidate) = count(*)
    AND count(DISTINCT s.trip_count) = 2
)
SELECT
  k.pair, k.is_backward, k.user_function, k.loop_number,
  CASE
    WHEN any_value(k.candidate_trips < k.base_trips) THEN 'larger steps'
    ELSE 'smaller steps'
  END AS words
FROM keys AS k
WHERE k.candidate_elements <> k.base_elements
GROUP BY k.pair, k.is_backward, k.user_function, k.loop_number
HAVING bool_and(
    sign(k.candidate_elements - k.base_elements)
      = sign(k.base_trips - k.candidate_trips)
  )
  -- Sums of few whole numbers, which are exact.
  OR bool_or(
    k.candidate_elements * k.candidate_trips = k.base_elements * k.base_trips
  )
