-- title: Dangling references
-- question: Does every row refer to rows that are there?
-- definition: For every reference between tables the number of rows whose
--   target is missing. NULL refers to nothing and is no fault.
-- grain: reference
-- needs: dangling_ids, runs, modules, dump_files, rejects, compiler_flags,
--   computations, instructions, allocations, values, allocation_values,
--   value_positions, value_uses, live_ranges, memory_profile, memory_timeline,
--   stack_frames, locations
-- param only_faults BOOLEAN = false: Only references that dangle.
-- column reference VARCHAR name neutral: table.column -> table.column.
-- column status VARCHAR name neutral: ok or fault.
-- column dangling_count BIGINT count lower_is_better: Rows without a target.
WITH dangling AS (
  SELECT d.referrer FROM dangling_ids() AS d
),
faults AS (
  SELECT 'modules.run_id -> runs.run_id' AS reference, count(*) AS n
  FROM modules AS a ANTI JOIN runs AS b USING (run_id)
  UNION ALL
  SELECT 'dump_files.run_id -> runs.run_id', count(*)
  FROM dump_files AS a ANTI JOIN runs AS b USING (run_id)
  UNION ALL
  SELECT 'dump_files.module_id -> modules.module_id', count(*)
  FROM (SELECT * FROM dump_files WHERE module_id IS NOT NULL) AS a
  ANTI JOIN modules AS b USING (module_id)
  UNION ALL
  SELECT 'rejects.path -> dump_files.path', count(*)
  FROM rejects AS a ANTI JOIN dump_files AS b USING (run_id, path)
  UNION ALL
  SELECT 'compiler_flags.run_id -> runs.run_id', count(*)
  FROM compiler_flags AS a ANTI JOIN runs AS b USING (run_id)
  UNION ALL
  SELECT 'computations.module_id -> modules.module_id', count(*)
  FROM computations AS a ANTI JOIN modules AS b USING (module_id)
  UNION ALL
  SELECT 'instructions.module_id -> modules.module_id', count(*)
  FROM store.instructions AS a ANTI JOIN modules AS b USING (module_id)
  UNION ALL
  SELECT 'instructions.computation_id -> computations.computation_id', count(*)
  FROM dangling AS d
  WHERE d.referrer = 'instructions.computation_id'
  UNION ALL
  SELECT 'operands.instruction_id -> instructions.instruction_id', count(*)
  FROM dangling AS d
  WHERE d.referrer = 'operands.instruction_id'
  UNION ALL
  SELECT 'operands.operand_id -> instructions.instruction_id', count(*)
  FROM dangling AS d
  WHERE d.referrer = 'operands.operand_id'
  UNION ALL
  SELECT 'called_computations.computation_id -> computations.computation_id',
    count(*)
  FROM dangling AS d
  WHERE d.referrer = 'called_computations.computation_id'
  UNION ALL
  SELECT 'allocations.module_id -> modules.module_id', count(*)
  FROM allocations AS a ANTI JOIN modules AS b USING (module_id)
  UNION ALL
  SELECT 'allocation_values.allocation_id -> allocations.allocation_id',
    count(*)
  FROM allocation_values AS a
  ANTI JOIN allocations AS b USING (module_id, allocation_id)
  UNION ALL
  SELECT 'allocation_values.value_id -> values.value_id', count(*)
  FROM allocation_values AS a ANTI JOIN store."values" AS b
    USING (module_id, value_id)
  UNION ALL
  SELECT 'value_positions.value_id -> values.value_id', count(*)
  FROM store.value_positions AS a
  ANTI JOIN store."values" AS b USING (module_id, value_id)
  UNION ALL
  SELECT 'value_uses.value_id -> values.value_id', count(*)
  FROM store.value_uses AS a
  ANTI JOIN store."values" AS b USING (module_id, value_id)
  UNION ALL
  SELECT 'schedule.instruction_id -> instructions.instruction_id', count(*)
  FROM dangling AS d
  WHERE d.referrer = 'schedule.instruction_id'
  UNION ALL
  SELECT 'live_ranges.value_id -> values.value_id', count(*)
  FROM (SELECT * FROM store.live_ranges WHERE value_id IS NOT NULL) AS a
  ANTI JOIN store."values" AS b USING (module_id, value_id)
  UNION ALL
  SELECT 'memory_profile.module_id -> allocations.module_id', count(*)
  FROM memory_profile AS a ANTI JOIN allocations AS b USING (module_id)
  UNION ALL
  SELECT 'memory_timeline.color -> memory_profile.color', count(*)
  FROM memory_timeline AS a
  ANTI JOIN memory_profile AS b
    ON b.module_id = a.module_id
    AND b.color = a.color
  UNION ALL
  SELECT 'locations.locations_id -> modules.locations_id', count(*)
  FROM locations AS a ANTI JOIN modules AS b USING (locations_id)
  UNION ALL
  SELECT 'locations.stack_frame_id -> stack_frames.stack_frame_id', count(*)
  FROM (SELECT * FROM locations WHERE stack_frame_id IS NOT NULL) AS a
  ANTI JOIN stack_frames AS b USING (locations_id, stack_frame_id)
  UNION ALL
  SELECT 'stack_frames.parent_id -> stack_frames.stack_frame_id', count(*)
  FROM (SELECT * FROM stack_frames WHERE parent_id IS NOT NULL) AS a
  ANTI JOIN stack_frames AS b
    ON b.locations_id = a.locations_id
    AND b.stack_frame_id = a.parent_id
)
SELECT
  reference, CASE WHEN n = 0 THEN 'ok' ELSE 'fault' END AS status,
  n AS dangling_count
FROM faults
WHERE n > 0
  OR NOT $only_faults
ORDER BY n DESC, reference
