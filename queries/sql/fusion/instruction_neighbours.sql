-- title: Users and inputs of an instruction
-- question: Which instructions depend on a result, or does it depend on, up to
--   a number of edges?
-- definition: Follows graph_edges from producer to consumer (direction users)
--   or from consumer to producer (inputs), through operands and called
--   computations. Each instruction is listed once, at its least distance;
--   among several edges the lowest kind and instruction number counts.
-- grain: module occurrence, instruction
-- leading: program, distance, name, opcode, edge, shape, op_name
-- param run
-- param program
-- param instruction VARCHAR = NULL: Name of the instruction to start from;
--   NULL for the first parameter of the entry computation (users) or its root
--   (inputs).
-- param direction VARCHAR = 'users' in users, inputs: Whether to follow edges
--   to users or to inputs.
-- param depth BIGINT = 1 from 0: Largest number of edges to follow.
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column start_instruction VARCHAR name neutral: Instruction at which the walk
--   starts.
-- column distance BIGINT count neutral: Fewest edges from there.
-- column name VARCHAR name neutral: The instruction reached.
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
    CASE $direction WHEN 'users' THEN e.producer_id ELSE e.consumer_id END
      AS from_id,
    CASE $direction WHEN 'users' THEN e.consumer_id ELSE e.producer_id END
      AS to_id
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
      AND CASE $direction
        WHEN 'users' THEN i.opcode = 'parameter' AND i.parameter_number = 0
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
  m.run, m.program, m.module_number, m.rank, s.name AS start_instruction,
  n.distance, n.name, n.opcode, n.shape, n.edge, t.name AS through,
  c.name AS computation, n.op_name
FROM final_modules() AS m
JOIN named AS n USING (module_id)
JOIN starts AS s USING (module_id, start_id)
JOIN named AS t
  ON t.module_id = n.module_id
  AND t.start_id = n.start_id
  AND t.instruction_id = n.through_id
LEFT JOIN computations AS c
  ON c.module_id = n.module_id
  AND c.computation_id = n.computation_id
ORDER BY
  m.program, m.module_number, m.rank, n.start_id, n.distance, n.instruction_id
LIMIT $top
