-- step: Constants of at least 4 KiB that the other side lacks, at the line
--   that reads them first, through the loops and calls that they are passed
--   to.
-- grain: pair, edited line
WITH RECURSIVE constants AS (
  SELECT
    o.pair, o.is_candidate, o.instruction_id, o.shape, o.size_bytes,
    row_number() OVER (
      PARTITION BY o.pair, o.is_candidate, o.shape ORDER BY o.instruction_id
    ) AS copy_number
  FROM operations AS o
  WHERE o.opcode = 'constant'
    AND o.size_bytes >= 4096
),
unmatched_constants AS MATERIALIZED (
  SELECT c.*
  FROM constants AS c
  ANTI JOIN constants AS o
    ON o.pair = c.pair
    AND o.is_candidate <> c.is_candidate
    AND o.shape = c.shape
    AND o.copy_number = c.copy_number
),
-- The instructions of the programs with such constants that pass arrays on.
ends AS MATERIALIZED (
  SELECT
    i.pair, i.is_candidate, i.instruction_id, i.computation_id, f.opcode,
    coalesce(f.parameter_number, f.tuple_index) AS number
  FROM (SELECT DISTINCT pair, is_candidate FROM unmatched_constants)
  JOIN program_instructions AS i USING (pair, is_candidate)
  JOIN forms AS f USING (form_id)
  WHERE f.opcode IN (
    'tuple', 'while', 'call', 'parameter', 'get-tuple-element'
  )
),
arguments_of_ends AS MATERIALIZED (
  SELECT
    n.pair, n.is_candidate, n.instruction_id, n.opcode,
    CAST(e.operand_index AS BIGINT) AS number, e.operand_id
  FROM ends AS n
  JOIN programs AS p USING (pair, is_candidate)
  JOIN operands AS e USING (module_id, instruction_id)
),
-- From an array to what it is called in the body of a loop, or in a callee.
passes AS MATERIALIZED (
  SELECT
    t.pair, t.is_candidate, t.operand_id AS given_id,
    g.instruction_id AS taken_id
  FROM arguments_of_ends AS t
  JOIN arguments_of_ends AS w
    ON w.pair = t.pair
    AND w.is_candidate = t.is_candidate
    AND w.operand_id = t.instruction_id
    AND w.opcode = 'while'
  JOIN program_calls AS c
    ON c.pair = w.pair
    AND c.is_candidate = w.is_candidate
    AND c.instruction_id = w.instruction_id
  JOIN ends AS g
    ON g.pair = c.pair
    AND g.is_candidate = c.is_candidate
    AND g.computation_id = c.called_id
    AND g.opcode = 'get-tuple-element'
    AND g.number = t.number
  JOIN arguments_of_ends AS a
    ON a.pair = g.pair
    AND a.is_candidate = g.is_candidate
    AND a.instruction_id = g.instruction_id
  JOIN ends AS p
    ON p.pair = a.pair
    AND p.is_candidate = a.is_candidate
    AND p.instruction_id = a.operand_id
    AND p.opcode = 'parameter'
  WHERE t.opcode = 'tuple'
  UNION
  SELECT t.pair, t.is_candidate, t.operand_id, p.instruction_id
  FROM arguments_of_ends AS t
  JOIN program_calls AS c USING (pair, is_candidate, instruction_id)
  JOIN ends AS p
    ON p.pair = c.pair
    AND p.is_candidate = c.is_candidate
    AND p.computation_id = c.called_id
    AND p.opcode = 'parameter'
    AND p.number = t.number
  WHERE t.opcode = 'call'
),
held AS (
  SELECT
    pair, is_candidate, instruction_id AS constant_id,
    instruction_id AS held_id
  FROM unmatched_constants
  UNION
  SELECT h.pair, h.is_candidate, h.constant_id, p.taken_id
  FROM held AS h
  JOIN passes AS p
    ON p.pair = h.pair
    AND p.is_candidate = h.is_candidate
    AND p.given_id = h.held_id
),
readers AS (
  SELECT
    h.pair, h.is_candidate, h.constant_id AS instruction_id,
    arg_min(r.frame_id, (r.opcode = 'while', r.instruction_id)) AS frame_id
  FROM held AS h
  JOIN operand_edges AS e
    ON e.pair = h.pair
    AND e.is_candidate = h.is_candidate
    AND e.operand_id = h.held_id
  JOIN operations AS r
    ON r.pair = e.pair
    AND r.is_candidate = e.is_candidate
    AND r.instruction_id = e.instruction_id
  WHERE r.is_located
    AND r.opcode <> 'call'
  GROUP BY h.pair, h.is_candidate, h.constant_id
)
SELECT
  c.pair, 'constant' AS change,
  max(c.shape) FILTER (WHERE NOT c.is_candidate) AS base_text,
  max(c.shape) FILTER (WHERE c.is_candidate) AS candidate_text,
  count(*) AS operation_count,
  sum(CASE WHEN c.is_candidate THEN c.size_bytes ELSE -c.size_bytes END)
    AS delta_bytes,
  s.source_file, s.function_name,
  max(s.line) FILTER (WHERE NOT c.is_candidate) AS base_line,
  max(s.line) FILTER (WHERE c.is_candidate) AS candidate_line
FROM unmatched_constants AS c
LEFT JOIN readers AS r USING (pair, is_candidate, instruction_id)
LEFT JOIN edit_sites AS s USING (pair, is_candidate, frame_id)
GROUP BY c.pair, s.source_file, s.function_name, s.line
