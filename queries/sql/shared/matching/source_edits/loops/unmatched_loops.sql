-- step: While loops that the other side lacks: of the same pass, function of
--   the user and trip count, it has fewer. They are numbered, so that one of
--   the base is compared with one of the candidate.
-- grain: pair, side, loop
WITH pairs_that_mark_backward_loops AS (
  SELECT o.pair
  FROM operations AS o
  WHERE o.opcode = 'while'
    AND o.is_backward
  GROUP BY o.pair
  HAVING bool_or(o.is_candidate) AND NOT bool_and(o.is_candidate)
),
loops AS MATERIALIZED (
  SELECT
    o.pair, o.is_candidate, o.instruction_id,
    -- Some releases do not say which loops are of the backward pass: it counts
    -- only where both sides say it.
    o.is_backward AND b.pair IS NOT NULL AS is_backward, o.user_function,
    o.frame_id, max(TRY_CAST(f.literal AS BIGINT)) AS trip_count
  FROM operations AS o
  LEFT JOIN pairs_that_mark_backward_loops AS b USING (pair)
  JOIN program_calls AS c USING (pair, is_candidate, instruction_id)
  LEFT JOIN program_instructions AS i
    ON i.pair = c.pair
    AND i.is_candidate = c.is_candidate
    AND i.computation_id = c.called_id
    AND c.role = 'condition'
  LEFT JOIN forms AS f
    ON f.form_id = i.form_id
    AND f.opcode = 'constant'
  WHERE o.opcode = 'while'
  GROUP BY ALL
),
counted AS (
  SELECT
    l.*, coalesce(l.trip_count, -1) AS known_trips,
    row_number() OVER (
      PARTITION BY
        l.pair, l.is_candidate, l.is_backward, l.user_function, l.trip_count
      ORDER BY l.instruction_id
    ) AS copy_number
  FROM loops AS l
)
SELECT
  l.*, row_number() OVER (
    PARTITION BY l.pair, l.is_candidate, l.is_backward, l.user_function
    ORDER BY l.trip_count, l.instruction_id
  ) AS loop_number
FROM counted AS l
ANTI JOIN counted AS o
  ON o.pair = l.pair
  AND o.is_candidate <> l.is_candidate
  AND o.is_backward = l.is_backward
  AND o.user_function IS NOT DISTINCT FROM l.user_function
  AND o.known_trips = l.known_trips
  AND o.copy_number = l.copy_number
