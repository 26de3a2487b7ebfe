-- step: While loops of the user of which the other side has fewer: of the same
--   pass, function of the user and trip count. A loop of a library is no edit:
--   its frame is not the user's, nor of a library that lifts loops (nn.scan),
--   or it, or what its path names, is inside of a jitted function that is none
--   of the user's; where functions have no names, that is one of JAX's own
--   (jit(_uniform)). Nor is one that only a checkpoint runs again. A loop
--   without a line is any loop of the other side that runs as often: below a
--   checkpoint, JAX leaves out the lines of the loops inside of loops.
-- grain: pair, side, loop
WITH pairs_that_mark_backward_loops AS (
  SELECT o.pair
  FROM operations AS o
  WHERE o.opcode = 'while'
    AND o.is_backward
  GROUP BY o.pair
  HAVING bool_or(o.is_candidate) AND NOT bool_and(o.is_candidate)
),
-- The user's own frames, and those of which no more is known than a file; and
-- those of libraries that run a function of the user in a loop.
own_frames AS (
  SELECT pair, is_candidate, frame_id
  FROM call_sites
  WHERE distance = 0
  UNION
  SELECT f.pair, f.is_candidate, f.frame_id
  FROM frames AS f
  JOIN framework_files() AS p ON contains(f.file_name, p.fragment)
  WHERE p.framework IN ('flax', 'haiku', 'equinox')
),
loops AS MATERIALIZED (
  SELECT
    o.pair, o.is_candidate, o.instruction_id,
    -- Some releases do not say which loops are of the backward pass: it counts
    -- only where both sides say it.
    o.is_backward AND b.pair IS NOT NULL AS is_backward,
    o.is_backward AS is_of_gradients, o.user_function,
    o.pair NOT IN (SELECT w.pair FROM user_functions AS w)
    AND regexp_matches(o.op_name, '[/(]jit\(_\w+\)+/while$') AS is_of_jax,
    o.frame_id, s.trip_count, s.body_size
  FROM operations AS o
  LEFT JOIN pairs_that_mark_backward_loops AS b USING (pair)
  JOIN program_calls AS c USING (pair, is_candidate, instruction_id)
  LEFT JOIN loop_sizes AS s USING (pair, is_candidate, instruction_id)
  LEFT JOIN own_frames AS u USING (pair, is_candidate, frame_id)
  LEFT JOIN library_computations AS y
    USING (pair, is_candidate, computation_id)
  LEFT JOIN user_functions AS n
    ON n.pair = o.pair
    AND n.function_name
      = regexp_extract_all(o.op_name, 'jit\((\w+)\)', 1)[-1]
  WHERE o.opcode = 'while'
    AND c.role = 'condition'
    -- The copy that a checkpoint runs again comes and goes with it.
    AND NOT o.is_recomputed
    AND (o.frame_id IS NULL OR u.frame_id IS NOT NULL)
    AND (
      n.pair IS NOT NULL
      OR NOT contains(o.op_name, '/jit(') AND y.pair IS NULL
      OR o.pair NOT IN (SELECT w.pair FROM user_functions AS w)
    )
),
-- Those with a line are the first, so that what is over is one without.
counted AS (
  SELECT
    l.*, coalesce(l.trip_count, -1) AS known_trips,
    row_number() OVER (
      PARTITION BY
        l.pair, l.is_candidate, l.is_backward, l.user_function, l.trip_count
      ORDER BY l.frame_id IS NULL, l.instruction_id
    ) AS copy_number
  FROM loops AS l
),
unmatched_by_function AS (
  SELECT l.*
  FROM counted AS l
  ANTI JOIN counted AS o
    ON o.pair = l.pair
    AND o.is_candidate <> l.is_candidate
    AND o.is_backward = l.is_backward
    AND o.user_function IS NOT DISTINCT FROM l.user_function
    AND o.known_trips = l.known_trips
    AND o.copy_number = l.copy_number
),
numbered AS (
  SELECT
    l.*, l.frame_id IS NULL AS is_unlocated,
    row_number() OVER (
      PARTITION BY
        l.pair, l.is_candidate, l.trip_count, l.frame_id IS NULL
      ORDER BY l.instruction_id
    ) AS number
  FROM unmatched_by_function AS l
  WHERE l.trip_count IS NOT NULL
)
SELECT l.* EXCLUDE (is_of_jax)
FROM unmatched_by_function AS l
ANTI JOIN (
  SELECT l.pair, l.is_candidate, l.instruction_id
  FROM numbered AS l
  JOIN numbered AS o
    ON o.pair = l.pair
    AND o.is_candidate <> l.is_candidate
    AND o.is_unlocated <> l.is_unlocated
    AND o.trip_count = l.trip_count
    AND o.number = l.number
) AS d USING (pair, is_candidate, instruction_id)
WHERE NOT l.is_of_jax
