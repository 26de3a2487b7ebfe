-- title: Readers of parameters
-- question: Which parameters does only the optimiser read?
-- definition: Readers of every entry parameter, in programs that mark only the
--   backward pass (dataflow_phases). Copies, bitcasts, tuples, and
--   instructions without op_name and without another operand are followed, at
--   most two in a row. is_state: there are readers; each one is of the phase
--   optimiser, or of phase other or none and reads results of the backward
--   pass; and none is a loop or conditional. The tuple of results is not a
--   reader. For programs that mark both passes, the result is that of
--   optimiser_state.
-- grain: module content, parameter
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column reader_count BIGINT count neutral: Instructions that read it.
-- column is_state BOOLEAN flag neutral: Whether only the optimiser reads it.
-- column is_read_forward BOOLEAN flag neutral: Whether the forward pass reads
--   it.
WITH RECURSIVE phases AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.phase, p.reads_backward
  FROM dataflow_phases() AS p
  WHERE p.schedule_step IS NOT NULL
    AND p.reads_backward IS NOT NULL
),
chosen AS MATERIALIZED (
  SELECT DISTINCT m.module_id, s.entry_computation_id AS computation_id
  FROM (
    -- Unnested, as in dataflow_phases.
    SELECT unnest(list(DISTINCT module_id)) AS module_id
    FROM phases
  ) AS m
  JOIN store.snapshots AS s USING (module_id)
),
-- Each is fixed, and of these modules alone: else they meet those of all runs.
described AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, f.opcode,
    f.parameter_number
  FROM chosen AS c
  JOIN store.instructions AS i
    ON i.module_id = c.module_id
  JOIN store.instruction_forms AS f USING (form_id)
),
read AS MATERIALIZED (
  SELECT o.module_id, o.instruction_id, o.operand_id
  FROM chosen AS c
  JOIN operands AS o
    ON o.module_id = c.module_id
  WHERE o.operand_id IS NOT NULL
),
entries AS MATERIALIZED (
  SELECT d.module_id, d.parameter_number, d.instruction_id
  FROM chosen
  JOIN described AS d USING (module_id, computation_id)
  WHERE d.opcode = 'parameter'
),
results AS MATERIALIZED (
  SELECT c.module_id, c.root_instruction_id AS instruction_id
  FROM chosen
  JOIN computations AS c USING (module_id, computation_id)
),
edges AS MATERIALIZED (
  SELECT
    p.module_id, o.operand_id, p.instruction_id AS reader_id, p.phase,
    p.reads_backward,
    d.opcode IN ('conditional', 'while') AS is_branching,
    d.opcode IN ('bitcast', 'copy', 'tuple')
    OR (
      p.phase = 'none'
      AND count(*) OVER (PARTITION BY p.module_id, p.instruction_id) = 1
    ) AS is_moving
  FROM phases AS p
  JOIN described AS d USING (module_id, instruction_id)
  JOIN read AS o USING (module_id, instruction_id)
  ANTI JOIN results AS r USING (module_id, instruction_id)
),
walk AS (
  SELECT
    n.module_id, n.parameter_number, n.instruction_id AS reader_id,
    'none' AS phase, FALSE AS reads_backward, FALSE AS is_branching,
    TRUE AS is_moving, 0 AS step
  FROM entries AS n
  UNION
  SELECT
    w.module_id, w.parameter_number, e.reader_id, e.phase, e.reads_backward,
    e.is_branching, e.is_moving, w.step + 1
  FROM walk AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.operand_id = w.reader_id
  WHERE w.is_moving
    AND w.step < 3
),
readers AS (
  SELECT DISTINCT
    module_id, parameter_number, reader_id, phase, reads_backward,
    is_branching
  FROM walk
  WHERE step = 3
    OR NOT is_moving
)
SELECT
  module_id, parameter_number, count(*) AS reader_count,
  bool_and(
    NOT is_branching
    AND (
      phase = 'optimiser'
      OR (
        phase IN ('other', 'none')
        AND reads_backward
      )
    )
  ) AS is_state,
  bool_or(phase = 'forward') AS is_read_forward
FROM readers
GROUP BY module_id, parameter_number
UNION ALL
SELECT
  u.module_id, u.parameter_number, u.reader_count, u.is_state,
  u.is_read_forward
FROM optimiser_state() AS u
