-- title: Values live from their definition
-- question: Which live ranges do not start where their value is defined?
-- definition: start_step is the step of the defining instruction. Parameters
--   are left out: they live from the start of their computation. Values that
--   an async computation defines may live from the start of the async
--   operation, as since jaxlib 0.12.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH doubtful AS MATERIALIZED (
  SELECT
    l.module_id, l.instruction_id, l.shape_index, l.start_step,
    i.schedule_step, i.computation_id
  FROM checked_modules() AS m
  JOIN store.live_ranges AS l USING (module_id)
  JOIN store.instructions AS i USING (module_id, instruction_id)
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE i.schedule_step IS NOT NULL
    AND l.start_step <> i.schedule_step
    AND f.opcode IS DISTINCT FROM 'parameter'
),
starts AS (
  SELECT c.module_id, c.computation_id, i.schedule_step
  FROM called_computations AS c
  JOIN store.instructions AS i USING (module_id, instruction_id)
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE c.module_id IN (SELECT module_id FROM doubtful)
    AND f.opcode LIKE '%-start'
),
faults AS MATERIALIZED (
  SELECT d.*
  FROM doubtful AS d
  ANTI JOIN starts AS s
    ON s.module_id = d.module_id
    AND s.computation_id = d.computation_id
    AND s.schedule_step = d.start_step
),
names AS (
  -- Of few modules, if any: all names would take longer than the rest.
  SELECT i.module_id, i.instruction_id, i.name
  FROM store.instructions AS i
  WHERE i.module_id IN (SELECT module_id FROM faults)
)
SELECT
  l.module_id, 'start of ' || i.name || l.shape_index AS place,
  CAST(l.schedule_step AS BIGINT) AS expected,
  CAST(l.start_step AS BIGINT) AS found
FROM faults AS l
JOIN names AS i USING (module_id, instruction_id)
