-- title: Phase of every instruction, by data flow
-- question: Does an instruction belong to the forward or the backward pass,
--   even if the framework marks only the backward pass?
-- definition: The phase of instruction_phases, except in programs that mark
--   the backward pass but not the whole forward pass (path_marks), as
--   TensorFlow and PyTorch do. There, scheduled instructions of phase other or
--   none are: forward if the backward pass reads their results and they read
--   none of its results; between if they read its results and it reads theirs,
--   as sums of gradients and recomputed values; backward if they are dots or
--   convolutions of its results for others, as gradients of weights. A fusion
--   with an instruction of the backward pass counts as a reader in it.
--   Instructions without a mark are followed; those that only move parameters
--   or constants keep their phase. Values computed from constants alone never
--   count as part of the backward pass.
-- grain: module content, instruction
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column phase VARCHAR name neutral: forward, backward, between, optimiser,
--   other or none.
-- column reads_backward BOOLEAN flag neutral: Whether it has no mark and reads
--   results of the backward pass; NULL in programs that mark both passes.
-- column schedule_step INTEGER step neutral: Step in the schedule.
WITH RECURSIVE named AS MATERIALIZED (
  SELECT
    o.module_id, o.instruction_id, o.phase, o.is_forward_marked,
    o.schedule_step
  FROM instruction_phases() AS o
),
half_marked AS MATERIALIZED (
  -- Unnested, it is taken for a few rows, and hash tables are made of these
  -- rather than of what all modules have.
  SELECT unnest(list(module_id)) AS module_id
  FROM (
    SELECT module_id
    FROM named
    GROUP BY module_id
    HAVING bool_or(phase = 'backward')
      AND NOT bool_or(is_forward_marked)
  )
),
-- Each is fixed, and of these modules alone: else they meet those of all runs.
described AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.computation_id, f.opcode
  FROM half_marked
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
read AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.operand_id
  FROM half_marked
  JOIN operands AS p USING (module_id)
  WHERE p.operand_id IS NOT NULL
),
callees AS MATERIALIZED (
  SELECT c.module_id, c.instruction_id, c.computation_id
  FROM half_marked
  JOIN called_computations AS c USING (module_id)
),
roots AS MATERIALIZED (
  SELECT c.module_id, c.computation_id, c.root_instruction_id
  FROM half_marked
  JOIN computations AS c USING (module_id)
),
nodes AS MATERIALIZED (
  SELECT
    n.module_id, n.instruction_id, n.phase, i.computation_id, i.opcode,
    n.phase IN ('other', 'none') AS is_unmarked,
    i.opcode IN ('bitcast', 'copy')
    OR n.phase = 'none' AS is_moving
  FROM described AS i
  JOIN named AS n USING (module_id, instruction_id)
  WHERE n.schedule_step IS NOT NULL
),
called AS MATERIALIZED (
  SELECT
    n.module_id, n.instruction_id, c.computation_id, d.root_instruction_id
  FROM nodes AS n
  JOIN callees AS c USING (module_id, instruction_id)
  JOIN roots AS d
    ON d.module_id = c.module_id
    AND d.computation_id = c.computation_id
  WHERE n.opcode IN ('call', 'while', 'conditional')
),
edges AS MATERIALIZED (
  SELECT n.module_id, n.instruction_id AS reader_id, p.operand_id
  FROM nodes AS n
  JOIN read AS p USING (module_id, instruction_id)
  UNION
  SELECT c.module_id, c.instruction_id, c.root_instruction_id
  FROM called AS c
  WHERE c.root_instruction_id IS NOT NULL
  UNION
  SELECT c.module_id, n.instruction_id, p.operand_id
  FROM called AS c
  JOIN nodes AS n
    ON n.module_id = c.module_id
    AND n.computation_id = c.computation_id
  JOIN read AS p
    ON p.module_id = c.module_id
    AND p.instruction_id = c.instruction_id
  WHERE n.opcode = 'parameter'
),
-- Fusions are called like their root.
holding AS MATERIALIZED (
  SELECT DISTINCT n.module_id, n.instruction_id
  FROM nodes AS n
  JOIN callees AS c USING (module_id, instruction_id)
  JOIN described AS i
    ON i.module_id = c.module_id
    AND i.computation_id = c.computation_id
  JOIN named AS o
    ON o.module_id = i.module_id
    AND o.instruction_id = i.instruction_id
  WHERE n.opcode = 'fusion'
    AND n.is_unmarked
    AND o.phase = 'backward'
    AND i.opcode NOT IN (
      'bitcast', 'broadcast', 'constant', 'iota', 'parameter', 'reshape'
    )
),
-- What nothing flows into: parameters of the program, and constants.
given AS MATERIALIZED (
  SELECT n.module_id, n.instruction_id, n.opcode = 'parameter' AS is_parameter
  FROM nodes AS n
  ANTI JOIN edges AS e
    ON e.module_id = n.module_id
    AND e.reader_id = n.instruction_id
),
flows AS MATERIALIZED (
  SELECT
    e.module_id, e.reader_id AS instruction_id, e.operand_id, n.is_moving
  FROM edges AS e
  JOIN nodes AS n
    ON n.module_id = e.module_id
    AND n.instruction_id = e.reader_id
),
moved AS MATERIALIZED (
  SELECT
    f.module_id, f.instruction_id, bool_or(g.is_parameter) AS is_parameter
  FROM flows AS f
  LEFT JOIN given AS g
    ON g.module_id = f.module_id
    AND g.instruction_id = f.operand_id
  GROUP BY f.module_id, f.instruction_id
  HAVING bool_and(g.instruction_id IS NOT NULL)
    AND (
      bool_and(f.is_moving)
      OR NOT bool_or(g.is_parameter)
    )
),
moved_twice AS MATERIALIZED (
  SELECT f.module_id, f.instruction_id
  FROM flows AS f
  LEFT JOIN (FROM given UNION ALL FROM moved) AS g
    ON g.module_id = f.module_id
    AND g.instruction_id = f.operand_id
  GROUP BY f.module_id, f.instruction_id
  HAVING bool_and(g.instruction_id IS NOT NULL)
    AND (
      bool_and(f.is_moving)
      OR NOT bool_or(g.is_parameter)
    )
),
still AS MATERIALIZED (
  SELECT module_id, instruction_id
  FROM given
  UNION
  FROM moved_twice
),
working AS MATERIALIZED (
  SELECT
    n.module_id, n.instruction_id, n.is_unmarked,
    n.opcode IN ('convolution', 'dot') AS is_product
  FROM nodes AS n
  ANTI JOIN still AS s
    ON s.module_id = n.module_id
    AND s.instruction_id = n.instruction_id
  WHERE n.is_unmarked
    OR n.phase = 'backward'
),
links AS MATERIALIZED (
  SELECT
    e.module_id, e.reader_id, e.operand_id,
    r.is_unmarked AS is_reader_unmarked,
    o.is_unmarked AS is_operand_unmarked
  FROM edges AS e
  JOIN working AS r
    ON r.module_id = e.module_id
    AND r.instruction_id = e.reader_id
  JOIN working AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
),
after AS (
  SELECT l.module_id, l.reader_id AS instruction_id
  FROM links AS l
  WHERE l.is_reader_unmarked
    AND NOT l.is_operand_unmarked
  UNION
  FROM holding
  UNION
  SELECT l.module_id, l.reader_id
  FROM after AS a
  JOIN links AS l
    ON l.module_id = a.module_id
    AND l.operand_id = a.instruction_id
  WHERE l.is_reader_unmarked
),
before AS (
  SELECT l.module_id, l.operand_id AS instruction_id
  FROM links AS l
  WHERE l.is_operand_unmarked
    AND NOT l.is_reader_unmarked
  UNION
  SELECT w.module_id, w.instruction_id
  FROM working AS w
  JOIN after AS a USING (module_id, instruction_id)
  WHERE w.is_product
  UNION
  SELECT l.module_id, l.operand_id
  FROM before AS b
  JOIN links AS l
    ON l.module_id = b.module_id
    AND l.reader_id = b.instruction_id
  WHERE l.is_operand_unmarked
),
feeding AS (
  SELECT DISTINCT l.module_id, l.operand_id AS instruction_id
  FROM links AS l
  LEFT JOIN before AS b
    ON b.module_id = l.module_id
    AND b.instruction_id = l.reader_id
  WHERE b.instruction_id IS NOT NULL
    OR NOT l.is_reader_unmarked
)
SELECT
  n.module_id, n.instruction_id,
  CASE
    WHEN b.instruction_id IS NULL THEN n.phase
    WHEN a.instruction_id IS NULL THEN 'forward'
    WHEN f.instruction_id IS NULL THEN 'backward'
    ELSE 'between'
  END AS phase,
  CASE
    WHEN h.module_id IS NOT NULL THEN a.instruction_id IS NOT NULL
  END AS reads_backward,
  n.schedule_step
FROM named AS n
LEFT JOIN half_marked AS h USING (module_id)
LEFT JOIN before AS b USING (module_id, instruction_id)
LEFT JOIN after AS a USING (module_id, instruction_id)
LEFT JOIN feeding AS f USING (module_id, instruction_id)
