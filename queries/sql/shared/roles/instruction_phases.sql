-- title: Phase of every instruction
-- question: Does an instruction belong to the forward pass, the backward pass
--   or the optimiser?
-- definition: The phase of op_paths. PyTorch gives operations of all phases
--   the same names; path_marks marks them with by_line. For these, the source
--   line decides (line_marks). An operation without a line is backward if
--   others of the module have one, as operations from autograd's threads.
--   Operations that the framework makes without a line in any phase are left
--   out. Compiled for a CPU, what bears the name of a recomputed operation is
--   forward where the forward pass goes on after it and no product of the
--   backward pass comes before it: XLA merged it with the first computation.
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
-- column is_forward_marked BOOLEAN flag neutral: Whether the framework marks
--   the whole forward pass in op_name.
-- column schedule_step INTEGER step neutral: Step in the schedule.
WITH named AS MATERIALIZED (
  SELECT
    o.module_id, o.instruction_id, o.op_name, o.phase, o.is_forward_marked,
    o.is_told_by_line, o.has_line, o.schedule_step,
    o.is_recomputed
    -- What needs no argument, such as zeros, comes before any product.
    AND o.schedule_step < min(o.schedule_step) FILTER (
      WHERE o.phase = 'backward'
        AND NOT o.is_recomputed
        AND regexp_matches(o.op_name, '(dot_general|conv_general_dilated)$')
    ) OVER of_module
    AND o.schedule_step < max(o.schedule_step) FILTER (
      WHERE o.phase = 'forward'
    ) OVER of_module AS may_be_merged
  FROM op_paths() AS o
  WINDOW of_module AS (PARTITION BY o.module_id)
),
by_line AS MATERIALIZED (
  SELECT DISTINCT module_id
  FROM named
  WHERE is_told_by_line
),
merging AS MATERIALIZED (
  SELECT DISTINCT module_id
  FROM (SELECT DISTINCT module_id FROM named WHERE may_be_merged)
  JOIN modules AS m USING (module_id)
  WHERE m.platform = 'cpu'
),
lines AS MATERIALIZED (
  SELECT
    c.module_id, n.instruction_id,
    bool_or(m.phase = 'backward') AS is_backward,
    bool_or(m.phase = 'optimiser') AS is_optimiser
  FROM (
    SELECT DISTINCT module_id, s.locations_id
    FROM by_line
    JOIN store.snapshots AS s USING (module_id)
  ) AS c
  JOIN store.location_sets AS s USING (locations_id)
  JOIN store.location_numbers AS n USING (numbering_id)
  JOIN store.location_lists AS l
    ON l.list_id = s.list_id
    AND l.location_number = n.location_number
  LEFT JOIN line_marks() AS m ON contains(l.source_file, m.fragment)
  WHERE l.source_file <> ''
  GROUP BY c.module_id, n.instruction_id
)
SELECT
  n.module_id, n.instruction_id, n.op_name,
  CASE
    WHEN n.may_be_merged AND c.module_id IS NOT NULL THEN 'forward'
    WHEN n.phase <> 'other' OR s.module_id IS NULL THEN n.phase
    WHEN l.is_backward THEN 'backward'
    WHEN l.instruction_id IS NULL AND n.has_line THEN 'backward'
    WHEN l.is_optimiser THEN 'optimiser'
    ELSE n.phase
  END AS phase,
  n.is_forward_marked, n.schedule_step
FROM named AS n
LEFT JOIN (SELECT DISTINCT module_id FROM lines) AS s USING (module_id)
LEFT JOIN lines AS l
  ON l.module_id = n.module_id
  AND l.instruction_id = n.instruction_id
LEFT JOIN merging AS c ON c.module_id = n.module_id
