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
-- steps: phases, half_marked, described_instructions, operand_edges, callees,
--   nodes, edges, moved_parameters, working_instructions, links
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
WITH RECURSIVE -- Fusions are called like their root.
holding AS MATERIALIZED (
  SELECT DISTINCT n.module_id, n.instruction_id
  FROM nodes AS n
  JOIN callees AS c USING (module_id, instruction_id)
  JOIN described_instructions AS i
    ON i.module_id = c.module_id
    AND i.computation_id = c.computation_id
  JOIN phases AS o
    ON o.module_id = i.module_id
    AND o.instruction_id = i.instruction_id
  WHERE n.opcode = 'fusion'
    AND n.is_unmarked
    AND o.phase = 'backward'
    AND i.opcode NOT IN (
      'bitcast', 'broadcast', 'constant', 'iota', 'parameter', 'reshape'
    )
),
after_backward AS (
  SELECT l.module_id, l.reader_id AS instruction_id
  FROM links AS l
  WHERE l.is_reader_unmarked
    AND NOT l.is_operand_unmarked
  UNION
  FROM holding
  UNION
  SELECT l.module_id, l.reader_id
  FROM after_backward AS a
  JOIN links AS l
    ON l.module_id = a.module_id
    AND l.operand_id = a.instruction_id
  WHERE l.is_reader_unmarked
),
before_backward AS (
  SELECT l.module_id, l.operand_id AS instruction_id
  FROM links AS l
  WHERE l.is_operand_unmarked
    AND NOT l.is_reader_unmarked
  UNION
  SELECT w.module_id, w.instruction_id
  FROM working_instructions AS w
  JOIN after_backward AS a USING (module_id, instruction_id)
  WHERE w.is_product
  UNION
  SELECT l.module_id, l.operand_id
  FROM before_backward AS b
  JOIN links AS l
    ON l.module_id = b.module_id
    AND l.reader_id = b.instruction_id
  WHERE l.is_operand_unmarked
),
feeding AS (
  SELECT DISTINCT l.module_id, l.operand_id AS instruction_id
  FROM links AS l
  LEFT JOIN before_backward AS b
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
FROM phases AS n
LEFT JOIN half_marked AS h USING (module_id)
LEFT JOIN before_backward AS b USING (module_id, instruction_id)
LEFT JOIN after_backward AS a USING (module_id, instruction_id)
LEFT JOIN feeding AS f USING (module_id, instruction_id)
