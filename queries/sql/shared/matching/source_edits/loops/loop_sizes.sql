-- step: How long while loops run. trip_count is that of a counter that begins
--   with a constant, to which the body adds a constant and which the condition
--   compares with one; NULL for others. body_size is the number of
--   instructions that one iteration runs.
-- grain: pair, side, loop
WITH
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
tuple_operands AS MATERIALIZED (
  SELECT
    i.pair, i.is_candidate, i.instruction_id, e.operand_index,
    e.operand_id AS element_id
  FROM program_instructions AS i
  JOIN forms AS f
    ON f.form_id = i.form_id
    AND f.opcode = 'tuple'
  JOIN programs AS p USING (pair, is_candidate)
  JOIN operands AS e
    ON e.module_id = p.module_id
    AND e.instruction_id = i.instruction_id
),
-- In a step of its own: in one, DuckDB joins all instructions of a pair.
tuple_elements AS MATERIALIZED (
  SELECT t.*, o.form_id
  FROM tuple_operands AS t
  JOIN program_instructions AS o
    ON o.pair = t.pair
    AND o.is_candidate = t.is_candidate
    AND o.instruction_id = t.element_id
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
)
SELECT s.*, t.trip_count
FROM body_sizes AS s
LEFT JOIN trips AS t USING (pair, is_candidate, instruction_id)
