-- title: Path between two instructions
-- question: How does data flow from one instruction to another?
-- definition: A shortest path along graph_edges from producer to consumer, of
--   at most max_depth edges; among equally short paths, the one with the
--   lowest instruction numbers, counted from the end. One row per instruction
--   on the path; no rows if there is none.
-- grain: module occurrence, instruction on the path
-- leading: program, place, name, opcode, edge, shape, op_name
-- param run
-- param program
-- param source VARCHAR = NULL: Name of the first instruction; NULL for the
--   first parameter of the entry computation.
-- param target VARCHAR = NULL: Name of the last instruction; NULL for the root
--   of the entry computation.
-- param max_depth BIGINT = 100 from 0: Longest path to look for.
-- column run
-- column program
-- column module_number
-- column rank
-- column place BIGINT count neutral: Position on the path, from 0.
-- column name VARCHAR name neutral: Instruction.
-- column opcode
-- column shape
-- column edge VARCHAR name neutral: Edge to this instruction: operand, call or
--   argument.
-- column computation VARCHAR name neutral: Its computation.
-- column op_name
WITH RECURSIVE edges AS MATERIALIZED (
  SELECT * FROM graph_edges()
),
entries AS MATERIALIZED (
  SELECT DISTINCT
    i.module_id, i.instruction_id, i.name, i.opcode, i.parameter_number,
    i.is_root,
    i.computation_id = n.entry_computation_id AS in_entry
  FROM final_modules() AS m
  JOIN modules AS n
    ON n.run_id = m.run_id
    AND n.module_id = m.module_id
  JOIN instructions AS i
    ON i.module_id = m.module_id
),
sources AS (
  SELECT module_id, min(instruction_id) AS instruction_id
  FROM entries
  WHERE name = $source
    OR (
      $source IS NULL AND in_entry AND opcode = 'parameter'
        AND parameter_number = 0
    )
  GROUP BY module_id
),
targets AS (
  SELECT module_id, min(instruction_id) AS instruction_id
  FROM entries
  WHERE name = $target
    OR ($target IS NULL AND in_entry AND is_root)
  GROUP BY module_id
),
walk USING KEY (module_id, instruction_id) AS (
  SELECT
    module_id, instruction_id, CAST(0 AS BIGINT) AS distance,
    CAST(NULL AS INTEGER) AS before_id, CAST(NULL AS VARCHAR) AS edge
  FROM sources
  UNION ALL
  SELECT
    w.module_id, e.consumer_id AS instruction_id, w.distance + 1,
    min(w.instruction_id), arg_min(e.kind, (w.instruction_id, e.kind))
  FROM walk AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.producer_id = w.instruction_id
  ANTI JOIN recurring.walk AS k
    ON k.module_id = e.module_id
    AND k.instruction_id = e.consumer_id
  WHERE w.distance < $max_depth
  GROUP BY w.module_id, e.consumer_id, w.distance
),
way AS (
  SELECT w.module_id, w.instruction_id, w.distance, w.before_id, w.edge
  FROM walk AS w
  JOIN targets AS t USING (module_id, instruction_id)
  UNION ALL
  SELECT b.module_id, b.instruction_id, b.distance, b.before_id, b.edge
  FROM way AS a
  JOIN walk AS b
    ON b.module_id = a.module_id
    AND b.instruction_id = a.before_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, w.distance AS place, i.name,
  i.opcode, i.shape, w.edge, c.name AS computation, i.op_name
FROM final_modules() AS m
JOIN way AS w USING (module_id)
JOIN instructions AS i
  ON i.module_id = w.module_id
  AND i.instruction_id = w.instruction_id
LEFT JOIN computations AS c
  ON c.module_id = i.module_id
  AND c.computation_id = i.computation_id
ORDER BY m.program, m.module_number, m.rank, m.path, place
