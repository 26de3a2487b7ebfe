-- step: While loops of the user that the other side lacks: of the same pass,
--   function of the user and trip count, it has fewer. They are numbered, so
--   that one of the base is compared with one of the candidate. trip_count is
--   that of a condition counter < constant. body_size is the number of
--   instructions that one iteration runs. A loop of a library is no edit: its
--   frame is not the user's, or its path is inside of a jitted function that
--   is none of the user's.
-- grain: pair, side, loop
WITH pairs_that_mark_backward_loops AS (
  SELECT o.pair
  FROM operations AS o
  WHERE o.opcode = 'while'
    AND o.is_backward
  GROUP BY o.pair
  HAVING bool_or(o.is_candidate) AND NOT bool_and(o.is_candidate)
),
limits AS (
  SELECT
    i.pair, i.is_candidate, i.computation_id,
    max(TRY_CAST(c.literal AS BIGINT)) AS trip_count
  FROM program_instructions AS i
  JOIN forms AS f
    ON f.form_id = i.form_id
    AND f.opcode = 'compare'
    AND f.direction = 'LT'
  JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  JOIN program_instructions AS l
    ON l.pair = e.pair
    AND l.is_candidate = e.is_candidate
    AND l.instruction_id = e.operand_id
  JOIN forms AS c
    ON c.form_id = l.form_id
    AND c.opcode = 'constant'
  WHERE i.is_root
  GROUP BY i.pair, i.is_candidate, i.computation_id
),
sizes AS MATERIALIZED (
  SELECT pair, is_candidate, computation_id, count(*) AS own_size
  FROM program_instructions
  GROUP BY ALL
),
body_sizes AS (
  SELECT
    b.pair, b.is_candidate, b.instruction_id,
    any_value(s.own_size) + coalesce(sum(n.own_size), 0) AS body_size
  FROM program_calls AS b
  JOIN sizes AS s
    ON s.pair = b.pair
    AND s.is_candidate = b.is_candidate
    AND s.computation_id = b.called_id
  LEFT JOIN program_instructions AS i
    ON i.pair = b.pair
    AND i.is_candidate = b.is_candidate
    AND i.computation_id = b.called_id
  LEFT JOIN program_calls AS c
    ON c.pair = i.pair
    AND c.is_candidate = i.is_candidate
    AND c.instruction_id = i.instruction_id
  LEFT JOIN sizes AS n
    ON n.pair = c.pair
    AND n.is_candidate = c.is_candidate
    AND n.computation_id = c.called_id
  WHERE b.role = 'body'
  GROUP BY b.pair, b.is_candidate, b.instruction_id
),
user_functions AS (
  SELECT DISTINCT pair, string_split(function_name, '.')[-1] AS function_name
  FROM frames
  WHERE is_user
    AND function_name <> ''
),
-- The user's own frames, and those of which no more is known than a file.
own_frames AS (
  SELECT pair, is_candidate, frame_id
  FROM call_sites
  WHERE distance = 0
),
loops AS MATERIALIZED (
  SELECT
    o.pair, o.is_candidate, o.instruction_id,
    -- Some releases do not say which loops are of the backward pass: it counts
    -- only where both sides say it.
    o.is_backward AND b.pair IS NOT NULL AS is_backward, o.user_function,
    o.frame_id, l.trip_count, s.body_size
  FROM operations AS o
  LEFT JOIN pairs_that_mark_backward_loops AS b USING (pair)
  JOIN program_calls AS c USING (pair, is_candidate, instruction_id)
  LEFT JOIN limits AS l
    ON l.pair = c.pair
    AND l.is_candidate = c.is_candidate
    AND l.computation_id = c.called_id
  LEFT JOIN body_sizes AS s USING (pair, is_candidate, instruction_id)
  LEFT JOIN own_frames AS u USING (pair, is_candidate, frame_id)
  LEFT JOIN user_functions AS n
    ON n.pair = o.pair
    AND n.function_name
      = regexp_extract_all(o.op_name, 'jit\((\w+)\)', 1)[-1]
  WHERE o.opcode = 'while'
    AND c.role = 'condition'
    AND (o.frame_id IS NULL OR u.frame_id IS NOT NULL)
    AND (
      n.pair IS NOT NULL
      OR NOT contains(o.op_name, '/jit(')
      OR o.pair NOT IN (SELECT w.pair FROM user_functions AS w)
    )
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
