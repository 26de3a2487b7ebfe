-- title: Asynchronous collectives inside fusions
-- question: Which collectives does a TPU run asynchronously inside fusions?
-- definition: TPU compilers print such a collective in several fusions, always
--   with the same chain_id: in the fusion that starts it (its custom call
--   AsyncCollectiveStart reads it), in fusions that compute meanwhile, and in
--   the fusion of AsyncCollectiveDone. part is start, during or done. Modules
--   are those of final_contents.
-- grain: module content, printed collective
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id INTEGER id neutral: The collective.
-- column opcode
-- column part VARCHAR name neutral: start, during or done.
-- column chain_id VARCHAR name neutral: Identifier that all parts of one
--   collective have.
-- column fusion_id INTEGER id neutral: instruction_id of its fusion.
-- column fusion VARCHAR name neutral: Name of its fusion.
-- column fusion_computation_id INTEGER id neutral: computation_id of the fused
--   computation.
-- column step INTEGER step neutral: Step at which the fusion runs.
WITH forms AS MATERIALIZED (
  -- Patterns are matched with each form, not with each instruction.
  SELECT
    form_id, opcode, custom_call_target,
    regexp_extract(attributes, 'chain_id="([^"]*)"', 1) AS chain_id
  FROM store.instruction_forms
  WHERE custom_call_target IN ('AsyncCollectiveStart', 'AsyncCollectiveDone')
    OR attributes LIKE '%chain_id="%'
),
nodes AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, f.opcode,
    f.custom_call_target, f.chain_id
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN forms AS f USING (form_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, i.module_id)
),
ends AS (
  SELECT
    p.module_id, p.operand_id AS instruction_id,
    CASE min(n.custom_call_target)
      WHEN 'AsyncCollectiveStart' THEN 'start'
      ELSE 'done'
    END AS part
  FROM nodes AS n
  JOIN operands AS p USING (module_id, instruction_id)
  WHERE n.opcode = 'custom-call'
  GROUP BY p.module_id, p.operand_id
),
callers AS MATERIALIZED (
  SELECT
    c.module_id, c.computation_id, min(c.instruction_id) AS fusion_id
  FROM (SELECT DISTINCT module_id, computation_id FROM nodes) AS n
  JOIN called_computations AS c USING (module_id, computation_id)
  GROUP BY c.module_id, c.computation_id
),
-- Fixed, of modules with callers alone: names take long to read.
fusions AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name, i.computation_id, i.schedule_step
  FROM (SELECT DISTINCT module_id FROM callers) AS c
  JOIN store.instructions AS i USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, i.module_id)
)
SELECT
  n.module_id, n.instruction_id, n.opcode, coalesce(e.part, 'during') AS part,
  n.chain_id, f.instruction_id AS fusion_id, f.name AS fusion,
  f.computation_id AS fusion_computation_id, f.schedule_step AS step
FROM nodes AS n
JOIN callers AS c USING (module_id, computation_id)
JOIN fusions AS f
  ON f.module_id = c.module_id
  AND f.instruction_id = c.fusion_id
LEFT JOIN ends AS e
  ON e.module_id = n.module_id
  AND e.instruction_id = n.instruction_id
WHERE n.opcode <> 'custom-call'
  AND n.module_id IN (SELECT module_id FROM ends)
