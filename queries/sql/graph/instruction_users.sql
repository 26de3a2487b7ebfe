-- title: Who uses an instruction
-- question: Which instructions depend on a result, to a depth of n edges?
-- definition: Along graph_edges from producer to consumer, operands and called
--   computations, each instruction once, at its least distance.
-- grain: module occurrence, instruction
-- needs: final_modules, modules, computations, instructions, graph_edges
-- param run
-- param program
-- param instruction VARCHAR = NULL: Name of the instruction to start from;
--   NULL for the first parameter of the entry computation.
-- param depth BIGINT = 1: How many edges to go at most.
-- param top BIGINT = 1000: At most this many rows.
-- column run
-- column program
-- column module_number
-- column rank
-- column start_instruction VARCHAR name neutral: Where the walk starts.
-- column distance BIGINT count neutral: Fewest edges from there.
-- column name VARCHAR name neutral: The instruction reached.
-- column opcode
-- column shape
-- column edge VARCHAR name neutral: Kind of the last edge: operand, call or
--   argument.
-- column through VARCHAR name neutral: The instruction before it on the way.
-- column computation VARCHAR name neutral: Its computation.
-- column op_name
WITH RECURSIVE edges AS MATERIALIZED (
  SELECT * FROM graph_edges(run := $run, program := $program)
),
starts AS (
  SELECT DISTINCT i.module_id, i.instruction_id, i.name AS start_name
  FROM final_modules(run := $run, program := $program) AS m
  JOIN modules AS n
    ON n.run_id = m.run_id
    AND n.module_id = m.module_id
  JOIN instructions AS i
    ON i.module_id = m.module_id
  WHERE i.name = $instruction
    OR (
      $instruction IS NULL
      AND i.computation_id = n.entry_computation_id
      AND i.opcode = 'parameter'
      AND i.parameter_number = 0
    )
),
walk USING KEY (module_id, start_id, instruction_id) AS (
  SELECT
    s.module_id, s.instruction_id AS start_id, s.instruction_id, s.start_name,
    CAST(0 AS BIGINT) AS distance, CAST(NULL AS VARCHAR) AS edge,
    CAST(NULL AS INTEGER) AS through_id
  FROM starts AS s
  UNION ALL
  SELECT
    w.module_id, w.start_id, e.consumer_id AS instruction_id, w.start_name,
    w.distance + 1, min(e.kind), min(w.instruction_id)
  FROM walk AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.producer_id = w.instruction_id
  ANTI JOIN recurring.walk AS k
    ON k.module_id = e.module_id
    AND k.start_id = w.start_id
    AND k.instruction_id = e.consumer_id
  WHERE w.distance < $depth
  GROUP BY w.module_id, w.start_id, e.consumer_id, w.start_name, w.distance
),
described AS (
  SELECT
    w.module_id, w.start_id, w.start_name, w.distance, w.edge, w.through_id,
    i.instruction_id, i.name, i.opcode, i.shape, i.op_name,
    c.name AS computation
  FROM walk AS w
  JOIN instructions AS i USING (module_id, instruction_id)
  LEFT JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  WHERE w.distance > 0
)
SELECT
  m.run, m.program, m.module_number, m.rank, d.start_name AS start_instruction,
  d.distance, d.name, d.opcode, d.shape, d.edge, t.name AS through,
  d.computation,
  d.op_name
FROM final_modules(run := $run, program := $program) AS m
JOIN described AS d USING (module_id)
LEFT JOIN (
  SELECT module_id, start_id, instruction_id, name FROM described
  UNION
  SELECT module_id, instruction_id, instruction_id, start_name FROM starts
) AS t
  ON t.module_id = d.module_id
  AND t.start_id = d.start_id
  AND t.instruction_id = d.through_id
ORDER BY
  m.program, m.module_number, m.rank, d.start_id, d.distance, d.instruction_id
LIMIT $top
