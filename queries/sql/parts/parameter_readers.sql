-- title: Who reads the parameters
-- question: Which parameters does nothing but the optimiser read, as its own
--   state?
-- definition: Readers of every parameter of the entry computation of programs
--   with a backward pass (dataflow_phases). Copies, bitcasts, tuples,
--   ConcatBitcasts and what has no op_name but no other operand than the
--   parameter are passed, four at most. Where both passes are marked, what
--   reads the parameter within a fusion is its reader instead of the fusion,
--   if it has an op_name, and reads what the fusion does. is_state: there are
--   readers, none is a loop or conditional, and each is of the phase
--   optimiser, or of other or none and reads what the backward pass makes. The
--   tuple of results is no reader. Of donated parameters of programs that mark
--   both passes as updated_state says.
-- grain: module content, parameter
-- needs: dataflow_phases, updated_state, operands, instructions, computations,
--   called_computations
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column reader_count BIGINT count neutral: Instructions that read it.
-- column is_state BOOLEAN flag neutral: Whether only the optimiser reads it.
-- column is_read_forward BOOLEAN flag neutral: Whether the forward pass does.
WITH RECURSIVE phases AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.phase, p.reads_backward
  FROM dataflow_phases(
    run := $run, program := $program, module_ids := $module_ids,
    every_run := $every_run
  ) AS p
  WHERE p.schedule_step IS NOT NULL
    AND p.reads_backward IS NOT NULL
),
-- What lies in fusions.
inner_phases AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.phase
  FROM dataflow_phases(
    run := $run, program := $program, module_ids := $module_ids,
    every_run := $every_run
  ) AS p
  WHERE p.schedule_step IS NULL
    AND p.reads_backward IS NOT NULL
    AND p.phase <> 'none'
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
    f.custom_call_target, f.parameter_number,
    coalesce(f.op_name LIKE '%jvp(%', FALSE) AS is_marked
  FROM chosen AS c
  JOIN store.instructions AS i
    ON i.module_id = c.module_id
  JOIN store.instruction_forms AS f USING (form_id)
),
read AS MATERIALIZED (
  SELECT o.module_id, o.instruction_id, o.operand_index, o.operand_id
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
-- Phases of what reads an operand within a fusion where both passes are
-- marked.
fused AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id, d.parameter_number AS operand_index,
    list(DISTINCT p.phase) AS phases
  FROM (SELECT DISTINCT module_id FROM described WHERE is_marked)
  JOIN called_computations AS c USING (module_id)
  JOIN described AS f
    ON f.module_id = c.module_id
    AND f.instruction_id = c.instruction_id
  JOIN described AS d
    ON d.module_id = c.module_id
    AND d.computation_id = c.computation_id
  JOIN read AS o
    ON o.module_id = d.module_id
    AND o.operand_id = d.instruction_id
  JOIN inner_phases AS p
    ON p.module_id = o.module_id
    AND p.instruction_id = o.instruction_id
  WHERE f.opcode = 'fusion'
    AND d.opcode = 'parameter'
  GROUP BY c.module_id, c.instruction_id, d.parameter_number
),
edges AS MATERIALIZED (
  SELECT
    p.module_id, o.operand_id, p.instruction_id AS reader_id,
    coalesce(f.phases, [p.phase]) AS phases,
    p.reads_backward OR f.phases IS NOT NULL AND p.phase = 'backward'
      AS reads_backward,
    d.opcode IN ('conditional', 'while') AS is_branching,
    d.opcode IN ('bitcast', 'copy', 'tuple')
    OR coalesce(d.custom_call_target = 'ConcatBitcast', FALSE)
    OR (
      p.phase = 'none'
      AND count(*) OVER (PARTITION BY p.module_id, p.instruction_id) = 1
    ) AS is_moving
  FROM phases AS p
  JOIN described AS d USING (module_id, instruction_id)
  JOIN read AS o USING (module_id, instruction_id)
  LEFT JOIN fused AS f USING (module_id, instruction_id, operand_index)
  ANTI JOIN results AS r
    ON r.module_id = p.module_id
    AND r.instruction_id = p.instruction_id
),
reached AS (
  SELECT
    n.module_id, n.parameter_number, e.reader_id, e.phases, e.reads_backward,
    e.is_branching, e.is_moving, 0 AS passed
  FROM entries AS n
  JOIN edges AS e
    ON e.module_id = n.module_id
    AND e.operand_id = n.instruction_id
  UNION
  SELECT
    n.module_id, n.parameter_number, e.reader_id, e.phases, e.reads_backward,
    e.is_branching, e.is_moving, n.passed + 1
  FROM reached AS n
  JOIN edges AS e
    ON e.module_id = n.module_id
    AND e.operand_id = n.reader_id
  WHERE n.is_moving
    AND n.passed < 4
),
readers AS (
  SELECT DISTINCT
    module_id, parameter_number, reader_id, phases, reads_backward,
    is_branching
  FROM reached
  WHERE NOT is_moving
    OR passed = 4
),
found AS (
  SELECT
    module_id, parameter_number, count(*) AS reader_count,
    bool_and(
      NOT is_branching
      AND NOT list_has_any(phases, ['backward', 'between', 'forward'])
      AND (phases = ['optimiser'] OR reads_backward)
    ) AS is_state,
    bool_or(list_contains(phases, 'forward')) AS is_read_forward
  FROM readers
  GROUP BY module_id, parameter_number
)
SELECT
  f.module_id, f.parameter_number, f.reader_count,
  coalesce(u.is_state, f.is_state) AS is_state, f.is_read_forward
FROM found AS f
LEFT JOIN updated_state(
  run := $run, program := $program, module_ids := $module_ids,
  every_run := $every_run
) AS u USING (module_id, parameter_number)
