-- title: Values live until their last use
-- question: Which live ranges end before the last use of their value, or long
--   after it?
-- definition: A value lives until the last of its uses and of the instructions
--   that it appears in; if it appears in the root of a computation, until the
--   end of that computation or of the program; or until another value takes
--   over its bytes. Either a call counts as a use (until 2023), or only the
--   called computation, which comes before it. Values defined in an
--   asynchronous computation, or in one that it calls, live until the done;
--   what a collective sends that libtpu runs within fusions (the first operand
--   of async-collective-done) may live longer.
--   Until mid-2022 (TensorFlow 2.9), a value ended one step before its
--   successor; since then at the successor's first step. One step of
--   difference is accepted, unless a value that merges others, as in a loop or
--   branch, starts as another value with the same bytes ends. expected is the
--   step of the last use or of the end, found is end_step (XLA,
--   hlo_live_range.cc). Without HLO, uses in called computations are not
--   known: such modules are skipped.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH RECURSIVE forms AS MATERIALIZED (
  SELECT form_id, opcode
  FROM store.instruction_forms
  WHERE opcode IN ('async-start', 'async-update', 'async-done')
),
steps AS MATERIALIZED (
  SELECT
    s.module_id, s.instruction_id, s.step, i.computation_id, i.form_id,
    i.is_root, i.form_id IN (
      SELECT form_id FROM store.instruction_forms WHERE opcode = 'call'
    ) AS is_call
  FROM checked_modules() AS m
  JOIN store.schedule AS s USING (module_id)
  JOIN store.instructions AS i USING (module_id, instruction_id)
  WHERE i.schedule_step IS NOT NULL
    AND m.has_text
),
last_uses AS (
  SELECT
    u.module_id, u.value_id, max(s.step) AS step,
    max(s.step) FILTER (WHERE NOT s.is_call) AS certain_step
  FROM store.value_uses AS u
  JOIN steps AS s USING (module_id, instruction_id)
  GROUP BY u.module_id, u.value_id
),
computation_ends AS (
  SELECT module_id, computation_id, max(step) + 1 AS step
  FROM steps
  GROUP BY module_id, computation_id
),
roots AS MATERIALIZED (
  -- Fixed, lest positions meet the ends of computations by module alone.
  SELECT s.module_id, s.instruction_id, e.step
  FROM steps AS s
  JOIN computation_ends AS e USING (module_id, computation_id)
  WHERE s.is_root
),
root_ends AS (
  SELECT p.module_id, p.value_id, max(r.step) AS step
  FROM store.value_positions AS p
  JOIN roots AS r USING (module_id, instruction_id)
  GROUP BY p.module_id, p.value_id
),
program_ends AS (
  SELECT module_id, max(step) + 1 AS step FROM steps GROUP BY module_id
),
ranges AS (
  SELECT
    l.module_id, l.instruction_id, l.shape_index, l.value_id, l.end_step,
    u.certain_step AS last_use,
    greatest(l.start_step, u.step, r.step) AS latest, e.step AS program_end
  FROM program_ends AS e
  JOIN store.live_ranges AS l USING (module_id)
  LEFT JOIN last_uses AS u USING (module_id, value_id)
  LEFT JOIN root_ends AS r USING (module_id, value_id)
),
placed AS (
  SELECT
    p.module_id, p.value_id, p.allocation_id, p.offset_bytes, l.start_step,
    l.end_step
  FROM store.live_ranges AS l
  JOIN allocation_values AS p USING (module_id, value_id)
),
suspects AS MATERIALIZED (
  SELECT l.*, p.allocation_id, p.offset_bytes
  FROM ranges AS l
  LEFT JOIN allocation_values AS p USING (module_id, value_id)
  ANTI JOIN placed AS t
    ON t.module_id = l.module_id
    AND t.allocation_id = p.allocation_id
    AND t.offset_bytes = p.offset_bytes
    AND t.start_step = l.end_step
    AND t.value_id <> l.value_id
  WHERE l.value_id IS NOT NULL
    AND (
      (l.end_step > l.latest AND l.end_step < l.program_end)
      OR l.end_step < l.last_use
    )
),
-- What follows is of the few modules that have suspects, if any, as is told to
-- the planner: it thinks that suspects are more than all rows there are.
suspected AS MATERIALIZED (
  SELECT m.module_id
  FROM checked_modules() AS m
  WHERE m.module_id IN (SELECT module_id FROM suspects)
),
touching AS (
  -- Values that nothing merges may share the bytes of an operand in any year.
  SELECT DISTINCT t.module_id
  FROM placed AS l
  JOIN placed AS t
    ON t.module_id = l.module_id
    AND t.allocation_id = l.allocation_id
    AND t.offset_bytes = l.offset_bytes
    AND t.start_step = l.end_step
  JOIN store.values AS v
    ON v.module_id = t.module_id
    AND v.value_id = t.value_id
  WHERE v.is_phi
    AND l.start_step < l.end_step
    AND l.module_id IN (SELECT module_id FROM suspected)
),
trimmed AS (
  SELECT l.module_id, l.value_id
  FROM suspects AS l
  JOIN placed AS t
    ON t.module_id = l.module_id
    AND t.allocation_id = l.allocation_id
    AND t.offset_bytes = l.offset_bytes
    AND t.start_step = l.end_step + 1
  ANTI JOIN touching AS o ON o.module_id = l.module_id
),
last_positions AS (
  SELECT p.module_id, p.value_id, max(s.step) AS step
  FROM store.value_positions AS p
  JOIN steps AS s USING (module_id, instruction_id)
  WHERE p.module_id IN (SELECT module_id FROM suspected)
  GROUP BY p.module_id, p.value_id
),
-- Fixed: else each round meets all operands.
asynchronous AS MATERIALIZED (
  SELECT s.module_id, s.instruction_id, f.opcode, s.step
  FROM steps AS s
  JOIN forms AS f USING (form_id)
  WHERE s.module_id IN (SELECT module_id FROM suspected)
),
first_operands AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.operand_id
  FROM suspected AS m
  JOIN operands AS p USING (module_id)
  WHERE p.operand_index = 0
),
links AS MATERIALIZED (
  SELECT p.module_id, p.operand_id, a.instruction_id, a.opcode, a.step
  FROM asynchronous AS a
  JOIN first_operands AS p USING (module_id, instruction_id)
  WHERE a.opcode <> 'async-start'
),
chains AS (
  SELECT
    module_id, instruction_id AS start_id, instruction_id, opcode, step
  FROM asynchronous
  WHERE opcode = 'async-start'
  UNION
  SELECT c.module_id, c.start_id, l.instruction_id, l.opcode, l.step
  FROM chains AS c
  JOIN links AS l
    ON l.module_id = c.module_id
    AND l.operand_id = c.instruction_id
  WHERE c.opcode <> 'async-done'
),
callers AS MATERIALIZED (
  SELECT
    s.module_id, s.computation_id AS caller_computation_id, b.computation_id
  FROM (SELECT DISTINCT module_id FROM asynchronous) AS a
  JOIN called_computations AS b USING (module_id)
  JOIN steps AS s USING (module_id, instruction_id)
  WHERE s.form_id NOT IN (
    SELECT form_id FROM forms WHERE opcode = 'async-start'
  )
),
contexts AS (
  SELECT b.module_id, b.computation_id, c.step
  FROM chains AS c
  JOIN called_computations AS b
    ON b.module_id = c.module_id
    AND b.instruction_id = c.start_id
  WHERE c.opcode = 'async-done'
  UNION
  SELECT b.module_id, b.computation_id, c.step
  FROM contexts AS c
  JOIN callers AS b
    ON b.module_id = c.module_id
    AND b.caller_computation_id = c.computation_id
),
async_ends AS (
  SELECT s.module_id, s.instruction_id, max(c.step) AS step
  FROM contexts AS c
  JOIN steps AS s USING (module_id, computation_id)
  GROUP BY s.module_id, s.instruction_id
),
sent AS (
  SELECT u.module_id, u.value_id
  FROM store.value_uses AS u
  JOIN store.instructions AS i USING (module_id, instruction_id)
  WHERE u.module_id IN (SELECT module_id FROM suspected)
    AND u.operand_index = 0
    AND starts_with(i.name, 'async-collective-done')
),
faults AS MATERIALIZED (
  SELECT l.* REPLACE (greatest(l.latest, p.step, a.step) AS latest)
  FROM suspects AS l
  LEFT JOIN last_positions AS p USING (module_id, value_id)
  LEFT JOIN async_ends AS a USING (module_id, instruction_id)
  LEFT JOIN sent AS n USING (module_id, value_id)
  ANTI JOIN trimmed AS t USING (module_id, value_id)
  WHERE l.end_step < l.last_use
    OR n.value_id IS NULL
    AND l.end_step > greatest(l.latest, p.step, a.step)
),
names AS (
  -- All instructions would take longer than the rest.
  SELECT i.module_id, i.instruction_id, i.name
  FROM store.instructions AS i
  WHERE i.module_id IN (SELECT module_id FROM suspected)
)
SELECT
  l.module_id, 'end of ' || i.name || l.shape_index AS place,
  CAST(CASE
    WHEN l.end_step > l.latest THEN l.latest ELSE l.last_use
  END AS BIGINT) AS expected,
  CAST(l.end_step AS BIGINT) AS found
FROM faults AS l
LEFT JOIN names AS i USING (module_id, instruction_id)
