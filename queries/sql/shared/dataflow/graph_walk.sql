-- title: Transitive users or inputs of instructions
-- question: Which instructions does a walk over the graph reach within a
--   number of edges?
-- definition: Follows graph_edges from the start to the producers, or with
--   forward to the consumers. Each instruction is listed once, at its least
--   distance; among several edges the lowest kind and instruction number
--   counts. Without a name the walk starts at the root of the entry
--   computation, or with forward at its first parameter.
-- grain: module content, start, instruction
-- param run
-- param program
-- param instruction VARCHAR = NULL: Name of the instruction to start from;
--   NULL for the root or first parameter of the entry computation.
-- param depth BIGINT = 1 from 0: Largest number of edges to follow.
-- param forward BOOLEAN = false: Follow edges from producer to consumer.
-- column module_id
-- column start_id INTEGER id neutral: Number of the instruction it starts at.
-- column start_instruction VARCHAR name neutral: Instruction at which the walk
--   starts.
-- column distance BIGINT count neutral: Fewest edges from there.
-- column instruction_id INTEGER id neutral: The instruction reached.
-- column name VARCHAR name neutral: Name of the instruction.
-- column opcode
-- column shape
-- column edge VARCHAR name neutral: Kind of the last edge: operand, call or
--   argument.
-- column through VARCHAR name neutral: The previous instruction on the path.
-- column computation VARCHAR name neutral: Its computation.
-- column op_name
WITH RECURSIVE edges AS MATERIALIZED (
  SELECT
    e.module_id, e.kind,
    CASE WHEN $forward THEN e.producer_id ELSE e.consumer_id END AS from_id,
    CASE WHEN $forward THEN e.consumer_id ELSE e.producer_id END AS to_id
  FROM graph_edges() AS e
),
starts AS MATERIALIZED (
  SELECT DISTINCT i.module_id, i.instruction_id AS start_id, i.name
  FROM final_modules() AS m
  JOIN modules AS n
    ON n.run_id = m.run_id
    AND n.module_id = m.module_id
  JOIN instructions AS i
    ON i.module_id = m.module_id
  WHERE i.name = $instruction
    OR (
      $instruction IS NULL
      AND i.computation_id = n.entry_computation_id
      AND CASE
        WHEN $forward THEN i.opcode = 'parameter' AND i.parameter_number = 0
        ELSE i.is_root
      END
    )
),
walk USING KEY (module_id, start_id, instruction_id) AS (
  SELECT
    module_id, start_id, start_id AS instruction_id,
    CAST(0 AS BIGINT) AS distance, CAST(NULL AS VARCHAR) AS edge,
    CAST(NULL AS INTEGER) AS through_id
  FROM starts
  UNION ALL
  SELECT
    w.module_id, w.start_id, e.to_id AS instruction_id, w.distance + 1,
    min(e.kind), min(w.instruction_id)
  FROM walk AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.from_id = w.instruction_id
  ANTI JOIN recurring.walk AS k
    ON k.module_id = e.module_id
    AND k.start_id = w.start_id
    AND k.instruction_id = e.to_id
  WHERE w.distance < $depth
  GROUP BY w.module_id, w.start_id, e.to_id, w.distance
),
instructions_there AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.name, i.computation_id, i.form_id
  FROM (SELECT DISTINCT module_id FROM starts) AS s
  JOIN store.instructions AS i USING (module_id)
),
named AS MATERIALIZED (
  SELECT
    w.module_id, w.start_id, w.instruction_id, w.distance, w.edge,
    w.through_id, i.name, f.opcode, f.shape, i.computation_id, f.op_name
  FROM walk AS w
  JOIN instructions_there AS i USING (module_id, instruction_id)
  JOIN store.instruction_forms AS f USING (form_id)
)
SELECT
  n.module_id, n.start_id, s.name AS start_instruction, n.distance,
  n.instruction_id, n.name, n.opcode, n.shape, n.edge, t.name AS through,
  c.name AS computation, n.op_name
FROM named AS n
JOIN starts AS s USING (module_id, start_id)
JOIN named AS t
  ON t.module_id = n.module_id
  AND t.start_id = n.start_id
  AND t.instruction_id = n.through_id
LEFT JOIN computations AS c
  ON c.module_id = n.module_id
  AND c.computation_id = n.computation_id
