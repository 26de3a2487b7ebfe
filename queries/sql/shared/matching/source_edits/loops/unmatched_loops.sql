-- step: Loops of one side that are edits. They are numbered, so that one of
--   the base is compared with one of the candidate. No edit of its own is one
--   whose line is a call that leads to another such loop, which a backward
--   pass may have and which is of no function whose loops run in it, nor one
--   of several that a loop ran which the other side has around it, nor what
--   only moves arrays beside another checkpoint, nor one in a loop where the
--   other side has a loop that takes the steps of both.
-- grain: pair, side, loop
WITH inner_loops AS (
  SELECT DISTINCT
    l.pair, l.is_candidate, l.trip_count, l.user_function,
    i.trip_count AS inner_trips, i.user_function AS inner_function,
    i.instruction_id AS inner_id
  FROM surplus_loops AS l
  JOIN loop_contents AS t USING (pair, is_candidate, instruction_id)
  JOIN operations AS o
    ON o.pair = t.pair
    AND o.is_candidate = t.is_candidate
    AND o.computation_id = t.computation_id
  JOIN surplus_loops AS i
    ON i.pair = o.pair
    AND i.is_candidate = o.is_candidate
    AND i.instruction_id = o.instruction_id
),
led_to AS (
  SELECT
    l.pair, l.is_candidate AS is_caller_candidate, l.instruction_id AS caller,
    o.is_candidate, o.instruction_id,
    row_number() OVER (
      PARTITION BY l.pair, l.is_candidate, l.instruction_id, o.is_candidate
      ORDER BY o.instruction_id
    ) AS inner_number,
    row_number() OVER (
      PARTITION BY o.pair, o.is_candidate, o.instruction_id, l.is_candidate
      ORDER BY l.instruction_id
    ) AS caller_number
  FROM surplus_loops AS l
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  JOIN surplus_loops AS o
    ON o.pair = l.pair
    AND o.trip_count = l.trip_count
  JOIN call_sites AS s
    ON s.pair = o.pair
    AND s.is_candidate = o.is_candidate
    AND s.frame_id = o.frame_id
    AND s.distance > 0
    AND s.file_name = n.file_name
    AND s.function_name = n.function_name
  -- A checkpoint repeats the frames of what it runs again.
  ANTI JOIN innermost_calls AS m
    ON m.pair = o.pair
    AND m.is_candidate = o.is_candidate
    AND m.frame_id = o.frame_id
    AND m.file_name = n.file_name
    AND m.function_name = n.function_name
  -- What runs in it is another loop.
  ANTI JOIN inner_loops AS r
    ON r.pair = l.pair
    AND r.is_candidate = l.is_candidate
    AND r.is_candidate = o.is_candidate
    AND r.trip_count = l.trip_count
    AND r.inner_trips = l.trip_count
    AND r.user_function = l.user_function
    AND r.inner_function = o.user_function
  WHERE o.instruction_id <> l.instruction_id
    OR o.is_candidate <> l.is_candidate
),
-- One beside that loop is of its edit; one on the other side is that loop.
-- A loop around it that one side lacks runs it as often as there are copies.
copies AS (
  SELECT l.pair, l.is_candidate, l.instruction_id
  FROM surplus_loops AS l
  JOIN operations AS o
    ON o.pair = l.pair
    AND o.is_candidate <> l.is_candidate
    AND o.opcode = 'while'
    AND o.user_function = l.user_function
  JOIN loop_sizes AS s
    ON s.pair = o.pair
    AND s.is_candidate = o.is_candidate
    AND s.instruction_id = o.instruction_id
    AND s.trip_count = l.trip_count
  JOIN loop_contents AS t
    ON t.pair = o.pair
    AND t.is_candidate = o.is_candidate
    AND t.computation_id = o.computation_id
  JOIN surplus_loops AS u
    ON u.pair = t.pair
    AND u.is_candidate = t.is_candidate
    AND u.instruction_id = t.instruction_id
),
-- What needs no gradient of a loop in a loop, such as weights of another type,
-- JAX computes in a loop of its own before both.
preparing AS (
  SELECT l.pair, l.is_candidate, l.instruction_id
  FROM surplus_loops AS l
  JOIN loop_contents AS t USING (pair, is_candidate, instruction_id)
  JOIN operations AS o
    ON o.pair = t.pair
    AND o.is_candidate = t.is_candidate
    AND o.computation_id = t.computation_id
  WHERE l.pair IN (SELECT r.pair FROM recomputation_changes AS r)
  GROUP BY l.pair, l.is_candidate, l.instruction_id
  HAVING bool_and(o.opcode IN (
    'bitcast', 'broadcast', 'call', 'constant', 'convert', 'copy',
    'dynamic-slice', 'dynamic-update-slice', 'gather', 'get-tuple-element',
    'iota', 'parameter', 'reshape', 'slice', 'transpose', 'tuple'
  ))
),
explained_loops AS (
  SELECT c.pair, c.is_candidate, c.instruction_id
  FROM copies AS c
  UNION
  -- A loop in a loop takes the steps of one alone, or the reverse.
  SELECT i.pair, i.is_candidate, i.inner_id
  FROM inner_loops AS i
  JOIN surplus_loops AS l
    ON l.pair = i.pair
    AND l.is_candidate <> i.is_candidate
    AND l.user_function = i.user_function
    AND l.trip_count = i.trip_count * i.inner_trips
  UNION
  FROM preparing
  UNION
  -- Below a checkpoint, JAX leaves out the line of a loop.
  SELECT u.pair, u.is_candidate, u.instruction_id
  FROM surplus_loops AS u
  JOIN surplus_loops AS l USING (pair, is_candidate, trip_count)
  WHERE u.frame_id IS NULL
    AND l.frame_id IS NOT NULL
  UNION
  SELECT d.pair, d.is_caller_candidate AS is_candidate,
    d.caller AS instruction_id
  FROM led_to AS d
  WHERE d.is_candidate = d.is_caller_candidate
    OR d.inner_number = d.caller_number
  UNION
  SELECT d.pair, d.is_candidate, d.instruction_id
  FROM led_to AS d
  WHERE d.is_candidate <> d.is_caller_candidate
    AND d.inner_number = d.caller_number
)
SELECT
  l.*, row_number() OVER (
    PARTITION BY l.pair, l.is_candidate, l.is_backward, l.user_function
    ORDER BY l.trip_count, l.instruction_id
  ) AS loop_number
FROM surplus_loops AS l
ANTI JOIN explained_loops AS d USING (pair, is_candidate, instruction_id)
