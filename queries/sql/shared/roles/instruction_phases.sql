-- title: Phase of every instruction
-- question: Does an instruction belong to the forward pass, the backward pass
--   or the optimiser?
-- definition: The phase of op_paths. PyTorch gives operations of all phases
--   the same names: what a path leaves at other is backward where its source
--   line is the call of torch.autograd, or where it has none while others of
--   the module have one, as what the threads of autograd run (what XLA makes
--   of a scan has none either, and is left out); optimiser where it is in
--   torch.optim.
-- grain: module content, instruction
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column op_name
-- column phase VARCHAR name neutral: forward, backward, optimiser, other or
--   none.
-- column schedule_step INTEGER step neutral: Its place in the schedule.
WITH named AS MATERIALIZED (
  SELECT o.module_id, o.instruction_id, o.op_name, o.phase, o.schedule_step
  FROM op_paths() AS o
),
of_torch AS MATERIALIZED (
  SELECT DISTINCT module_id
  FROM named
  WHERE op_name LIKE '%aten\_\_%' ESCAPE '\'
),
lines AS MATERIALIZED (
  SELECT
    c.module_id, n.instruction_id,
    bool_or(
      regexp_matches(l.source_file, '/torch/autograd/(graph|__init__)\.py$')
    ) AS is_backward,
    bool_or(
      regexp_matches(l.source_file, '/torch/optim/|/torch_xla/amp/syncfree/')
    ) AS is_optimiser
  FROM (
    SELECT DISTINCT module_id, s.locations_id
    FROM of_torch
    JOIN store.snapshots AS s USING (module_id)
  ) AS c
  JOIN store.location_sets AS s USING (locations_id)
  JOIN store.location_numbers AS n USING (numbering_id)
  JOIN store.location_lists AS l
    ON l.list_id = s.list_id
    AND l.location_number = n.location_number
  WHERE l.source_file <> ''
  GROUP BY c.module_id, n.instruction_id
)
SELECT
  n.module_id, n.instruction_id, n.op_name,
  CASE
    WHEN n.phase <> 'other' OR s.module_id IS NULL THEN n.phase
    WHEN l.is_backward THEN 'backward'
    WHEN l.instruction_id IS NULL
      AND n.op_name NOT LIKE '%xla\_\_scan%' ESCAPE '\'
      THEN 'backward'
    WHEN l.is_optimiser THEN 'optimiser'
    ELSE n.phase
  END AS phase,
  n.schedule_step
FROM named AS n
LEFT JOIN (SELECT DISTINCT module_id FROM lines) AS s USING (module_id)
LEFT JOIN lines AS l
  ON l.module_id = n.module_id
  AND l.instruction_id = n.instruction_id
