-- title: Pairs of start and done
-- question: Which done belongs to which start, and at which steps do they run?
-- definition: Instructions whose opcode ends in -start, and the -done of the
--   same operation that reads each, directly or through -update and
--   get-tuple-element. wrapped_opcode is the operation that an async-start
--   calls, or else the opcode without -start. Fusions that start and end one
--   of async_collectives are pairs, too; wrapped_opcode is then the
--   collective. Modules: the last snapshot of every module.
-- grain: module content, start
-- param run
-- param program
-- column module_id
-- column instruction_id INTEGER id neutral: The start.
-- column instruction VARCHAR name neutral: Its name.
-- column wrapped_opcode VARCHAR name neutral: Operation that runs
--   asynchronously.
-- column done_instruction VARCHAR name neutral: The done; NULL if no done
--   reads the start.
-- column start_at_step INTEGER step neutral: Step of the start.
-- column done_at_step INTEGER step neutral: Step of the done.
WITH RECURSIVE forms AS MATERIALIZED (
  -- A pattern is matched with each form, not with each instruction.
  SELECT form_id, opcode
  FROM store.instruction_forms
  WHERE regexp_matches(opcode, '-(start|update|done)$')
    OR opcode = 'get-tuple-element'
),
nodes AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name, f.opcode, i.schedule_step
  FROM (
    -- Unnested, they are taken for a few, and hash tables are made of these
    -- rather than of what all modules have.
    SELECT unnest(list(DISTINCT module_id)) AS module_id
    FROM final_modules()
  ) AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN forms AS f USING (form_id)
),
edges AS MATERIALIZED (
  SELECT
    p.module_id, p.operand_id, n.instruction_id, n.name, n.opcode,
    n.schedule_step
  FROM operands AS p
  JOIN nodes AS n USING (module_id, instruction_id)
  WHERE p.operand_index = 0
),
followed AS (
  SELECT
    n.module_id, n.instruction_id AS start_id, n.instruction_id, n.opcode,
    n.name, n.schedule_step, 0 AS depth
  FROM nodes AS n
  WHERE n.opcode LIKE '%-start'
  UNION
  SELECT
    f.module_id, f.start_id, e.instruction_id, e.opcode, e.name,
    e.schedule_step,
    f.depth + 1
  FROM followed AS f
  JOIN edges AS e
    ON e.module_id = f.module_id
    AND e.operand_id = f.instruction_id
  WHERE f.depth < 20
    AND f.opcode NOT LIKE '%-done'
    AND e.opcode NOT LIKE '%-start'
),
dones AS (
  SELECT
    module_id, start_id, min(schedule_step) AS done_at_step,
    arg_min(name, (schedule_step, instruction_id)) AS done_instruction
  FROM followed
  WHERE opcode LIKE '%-done'
  GROUP BY module_id, start_id
),
roots AS MATERIALIZED (
  SELECT c.module_id, c.computation_id, f.opcode
  FROM (
    SELECT unnest(list(DISTINCT module_id)) AS module_id
    FROM nodes
    WHERE opcode = 'async-start'
  ) AS m
  JOIN computations AS c USING (module_id)
  JOIN store.instructions AS i
    ON i.module_id = c.module_id
    AND i.instruction_id = c.root_instruction_id
  JOIN store.instruction_forms AS f USING (form_id)
),
called AS (
  SELECT
    s.module_id, s.instruction_id, min(r.opcode) AS wrapped_opcode
  FROM nodes AS s
  JOIN called_computations AS c USING (module_id, instruction_id)
  JOIN roots AS r
    ON r.module_id = c.module_id
    AND r.computation_id = c.computation_id
  WHERE s.opcode = 'async-start'
  GROUP BY s.module_id, s.instruction_id
),
chains AS MATERIALIZED (
  SELECT * FROM async_collectives()
),
fused AS (
  SELECT
    s.module_id, s.fusion_id, min(s.fusion) AS fusion,
    min(s.opcode) AS opcode, min(s.step) AS start_at_step,
    min(e.step) AS done_at_step, arg_min(e.fusion, e.step) AS done_instruction
  FROM chains AS s
  LEFT JOIN chains AS e
    ON e.module_id = s.module_id
    AND e.chain_id = s.chain_id
    AND e.fusion_computation_id = s.fusion_computation_id
    AND e.part = 'done'
    AND e.step > s.step
  WHERE s.part = 'start'
  GROUP BY s.module_id, s.fusion_id
)
SELECT
  n.module_id, n.instruction_id, n.name AS instruction,
  coalesce(c.wrapped_opcode, regexp_replace(n.opcode, '-start$', ''))
    AS wrapped_opcode,
  d.done_instruction, n.schedule_step AS start_at_step, d.done_at_step
FROM nodes AS n
LEFT JOIN dones AS d
  ON d.module_id = n.module_id
  AND d.start_id = n.instruction_id
LEFT JOIN called AS c
  ON c.module_id = n.module_id
  AND c.instruction_id = n.instruction_id
WHERE n.opcode LIKE '%-start'
UNION ALL
SELECT
  module_id, fusion_id, fusion, opcode, done_instruction, start_at_step,
  done_at_step
FROM fused
