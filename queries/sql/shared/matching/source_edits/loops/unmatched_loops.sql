-- step: While loops of the user that the other side lacks: of the same pass,
--   function of the user and trip count, it has fewer. They are numbered, so
--   that one of the base is compared with one of the candidate. trip_count is
--   that of a counter that begins with a constant, to which the body adds a
--   constant and which the condition compares with one. body_size is the
--   number of instructions that one iteration runs. A loop of a library is no
--   edit: its frame is not the user's, or its path is inside of a jitted
--   function that is none of the user's. Nor is one that only a checkpoint
--   runs again, or whose line is a call that leads to another such loop.
-- grain: pair, side, loop
WITH pairs_that_mark_backward_loops AS (
  SELECT o.pair
  FROM operations AS o
  WHERE o.opcode = 'while'
    AND o.is_backward
  GROUP BY o.pair
  HAVING bool_or(o.is_candidate) AND NOT bool_and(o.is_candidate)
),
-- What comparisons, additions and loops read.
read_forms AS MATERIALIZED (
  SELECT
    i.pair, i.is_candidate, i.instruction_id, e.operand_id,
    f.opcode = 'while' AS is_of_loop, c.tuple_index, c.literal,
    c.opcode = 'constant' AND regexp_matches(c.element_type, '^[su]\d')
      AS is_whole_number
  FROM program_instructions AS i
  JOIN forms AS f
    ON f.form_id = i.form_id
    AND f.opcode IN ('compare', 'add', 'while')
    AND (f.opcode <> 'add' OR f.dims = '[]')
  JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  JOIN program_instructions AS o
    ON o.pair = e.pair
    AND o.is_candidate = e.is_candidate
    AND o.instruction_id = e.operand_id
  JOIN forms AS c ON c.form_id = o.form_id
),
-- Elements of tuples that loops begin with, or that their bodies end with.
tuple_elements AS MATERIALIZED (
  SELECT
    i.pair, i.is_candidate, i.instruction_id, e.operand_index,
    e.operand_id AS element_id, o.form_id
  FROM program_instructions AS i
  JOIN forms AS f
    ON f.form_id = i.form_id
    AND f.opcode = 'tuple'
  JOIN programs AS p USING (pair, is_candidate)
  JOIN operands AS e
    ON e.module_id = p.module_id
    AND e.instruction_id = i.instruction_id
  JOIN program_instructions AS o
    ON o.pair = i.pair
    AND o.is_candidate = i.is_candidate
    AND o.instruction_id = e.operand_id
),
-- Which element of what a loop carries its condition compares with a constant.
bounds AS (
  SELECT
    i.pair, i.is_candidate, i.computation_id, g.tuple_index AS counter,
    TRY_CAST(c.literal AS BIGINT) AS bound
  FROM program_instructions AS i
  JOIN forms AS f
    ON f.form_id = i.form_id
    AND f.opcode = 'compare'
    AND f.direction = 'LT'
  JOIN read_forms AS g USING (pair, is_candidate, instruction_id)
  JOIN read_forms AS c USING (pair, is_candidate, instruction_id)
  WHERE i.is_root
    AND g.tuple_index IS NOT NULL
    AND c.is_whole_number
),
-- What the body adds to an element, and with what the loop begins.
steps AS (
  SELECT
    i.pair, i.is_candidate, i.computation_id,
    e.operand_index AS counter, TRY_CAST(c.literal AS BIGINT) AS step
  FROM program_instructions AS i
  JOIN tuple_elements AS e USING (pair, is_candidate, instruction_id)
  JOIN forms AS f
    ON f.form_id = e.form_id
    AND f.opcode = 'add'
  JOIN read_forms AS g
    ON g.pair = e.pair
    AND g.is_candidate = e.is_candidate
    AND g.instruction_id = e.element_id
    AND g.tuple_index = e.operand_index
  JOIN read_forms AS c
    ON c.pair = e.pair
    AND c.is_candidate = e.is_candidate
    AND c.instruction_id = e.element_id
    AND c.is_whole_number
  WHERE i.is_root
),
starts AS (
  SELECT
    r.pair, r.is_candidate, r.instruction_id, e.operand_index AS counter,
    TRY_CAST(f.literal AS BIGINT) AS start
  FROM read_forms AS r
  JOIN tuple_elements AS e
    ON e.pair = r.pair
    AND e.is_candidate = r.is_candidate
    AND e.instruction_id = r.operand_id
  JOIN forms AS f
    ON f.form_id = e.form_id
    AND f.opcode = 'constant'
  WHERE r.is_of_loop
),
trips AS (
  SELECT
    s.pair, s.is_candidate, s.instruction_id,
    max(greatest(b.bound - s.start + t.step - 1, 0) // nullif(t.step, 0))
      AS trip_count
  FROM starts AS s
  JOIN program_calls AS c
    ON c.pair = s.pair
    AND c.is_candidate = s.is_candidate
    AND c.instruction_id = s.instruction_id
    AND c.role = 'condition'
  JOIN bounds AS b
    ON b.pair = c.pair
    AND b.is_candidate = c.is_candidate
    AND b.computation_id = c.called_id
    AND b.counter = s.counter
  JOIN program_calls AS o
    ON o.pair = s.pair
    AND o.is_candidate = s.is_candidate
    AND o.instruction_id = s.instruction_id
    AND o.role = 'body'
  JOIN steps AS t
    ON t.pair = o.pair
    AND t.is_candidate = o.is_candidate
    AND t.computation_id = o.called_id
    AND t.counter = s.counter
  WHERE t.step > 0
  GROUP BY ALL
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
  LEFT JOIN trips AS l USING (pair, is_candidate, instruction_id)
  LEFT JOIN body_sizes AS s USING (pair, is_candidate, instruction_id)
  LEFT JOIN own_frames AS u USING (pair, is_candidate, frame_id)
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
),
unmatched AS (
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
-- A backward pass may have the line of the call alone that leads to its loop.
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
  FROM unmatched AS l
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  JOIN unmatched AS o
    ON o.pair = l.pair
    AND o.trip_count = l.trip_count
  JOIN call_sites AS s
    ON s.pair = o.pair
    AND s.is_candidate = o.is_candidate
    AND s.frame_id = o.frame_id
    AND s.distance > 0
    AND s.file_name = n.file_name
    AND s.function_name = n.function_name
  WHERE o.instruction_id <> l.instruction_id
    OR o.is_candidate <> l.is_candidate
),
-- One beside that loop is of its edit; one on the other side is that loop.
explained_loops AS (
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
FROM unmatched AS l
ANTI JOIN explained_loops AS d USING (pair, is_candidate, instruction_id)
