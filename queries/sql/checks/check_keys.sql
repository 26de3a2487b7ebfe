-- title: No row stands twice
-- question: Which tables hold two rows with the same key?
-- definition: For each table and each of its keys: expected is the number of
--   different keys, found how many of them stand once. The check looks at the
--   whole warehouse.
-- grain: table, key
-- needs: doubtful_keys, instructions, operands, computations, stack_frames,
--   allocations, values, allocation_values, value_positions,
--   value_uses, schedule, memory_timeline, runs, dump_files, modules,
--   called_computations, live_ranges, memory_profile, memory_reports,
--   memory_report_allocations, memory_analysis, oom_reports, oom_buffers
-- column place VARCHAR text neutral: What is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
WITH doubtful AS MATERIALIZED (
  SELECT u.table_name, u.owner_id FROM doubtful_keys() AS u
),
repeated AS (
  SELECT
    'instructions by module_id, instruction_id' AS place,
    (SELECT count(*) FROM store.instructions) AS row_count, count(*) AS copies
  FROM store.instructions AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'instructions'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.instruction_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'operands by module_id, instruction_id, operand_index',
    (SELECT count(*) FROM operands), count(*)
  FROM operands AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'operands'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.instruction_id, t.operand_index
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'location_numbers by numbering_id, instruction_id',
    (SELECT count(*) FROM store.location_numbers), count(*)
  FROM store.location_numbers AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'location_numbers'
    AND d.owner_id IS NOT DISTINCT FROM t.numbering_id
  GROUP BY t.numbering_id, t.instruction_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'location_lists by list_id, location_number',
    (SELECT count(*) FROM store.location_lists), count(*)
  FROM store.location_lists AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'location_lists'
    AND d.owner_id IS NOT DISTINCT FROM t.list_id
  GROUP BY t.list_id, t.location_number
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'computations by module_id, computation_id',
    (SELECT count(*) FROM computations), count(*)
  FROM computations AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'computations'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.computation_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'stack_frames by frames_id, stack_frame_id',
    (SELECT count(*) FROM store.stack_frames), count(*)
  FROM store.stack_frames AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'stack_frames'
    AND d.owner_id IS NOT DISTINCT FROM t.frames_id
  GROUP BY t.frames_id, t.stack_frame_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'allocations by module_id, allocation_id',
    (SELECT count(*) FROM allocations), count(*)
  FROM allocations AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'allocations'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.allocation_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'values by module_id, value_id',
    (SELECT count(*) FROM store."values"), count(*)
  FROM store."values" AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'values'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.value_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'allocation_values by module_id, allocation_id, value_id',
    (SELECT count(*) FROM allocation_values), count(*)
  FROM allocation_values AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'allocation_values'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.allocation_id, t.value_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'value_positions by module_id, value_id, ordinal',
    (SELECT count(*) FROM store.value_positions), count(*)
  FROM store.value_positions AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'value_positions'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.value_id, t.ordinal
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'value_uses by module_id, value_id, ordinal',
    (SELECT count(*) FROM store.value_uses), count(*)
  FROM store.value_uses AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'value_uses'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.value_id, t.ordinal
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'schedule by module_id, step',
    (SELECT count(*) FROM store.schedule), count(*)
  FROM store.schedule AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'schedule'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.step
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'memory_timeline by module_id, color, from_step',
    (SELECT count(*) FROM memory_timeline), count(*)
  FROM memory_timeline AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'memory_timeline'
    AND d.owner_id IS NOT DISTINCT FROM t.module_id
  GROUP BY t.module_id, t.color, t.from_step
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'runs by run_id',
    (SELECT count(*) FROM runs), count(*)
  FROM runs AS t
  GROUP BY t.run_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'runs by name',
    (SELECT count(*) FROM runs), count(*)
  FROM runs AS t
  GROUP BY t.name
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'dump_files by run_id, path',
    (SELECT count(*) FROM dump_files), count(*)
  FROM dump_files AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = 'dump_files'
    AND d.owner_id IS NOT DISTINCT FROM t.run_id
  GROUP BY t.run_id, t.path
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'modules by run_id, path, part',
    (SELECT count(*) FROM modules), count(*)
  FROM modules AS t
  GROUP BY t.run_id, t.path, t.part
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'snapshots by snapshot_id',
    (SELECT count(*) FROM store.snapshots), count(*)
  FROM store.snapshots AS t
  GROUP BY t.snapshot_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'snapshots by snapshot_key',
    (SELECT count(*) FROM store.snapshots), count(*)
  FROM store.snapshots AS t
  GROUP BY t.snapshot_key
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'paths by path_id',
    (SELECT count(*) FROM store.paths), count(*)
  FROM store.paths AS t
  GROUP BY t.path_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'paths by path_key',
    (SELECT count(*) FROM store.paths), count(*)
  FROM store.paths AS t
  GROUP BY t.path_key
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'files by file_id',
    (SELECT count(*) FROM store.files), count(*)
  FROM store.files AS t
  GROUP BY t.file_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'files by file_key',
    (SELECT count(*) FROM store.files), count(*)
  FROM store.files AS t
  GROUP BY t.file_key
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'location_sets by locations_id',
    (SELECT count(*) FROM store.location_sets), count(*)
  FROM store.location_sets AS t
  GROUP BY t.locations_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'instruction_forms by form_id',
    (SELECT count(*) FROM store.instruction_forms), count(*)
  FROM store.instruction_forms AS t
  GROUP BY t.form_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'instruction_forms by form_key',
    (SELECT count(*) FROM store.instruction_forms), count(*)
  FROM store.instruction_forms AS t
  GROUP BY t.form_key
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'called_computations by module_id, instruction_id, role, ordinal',
    (SELECT count(*) FROM called_computations), count(*)
  FROM called_computations AS t
  GROUP BY t.module_id, t.instruction_id, t.role, t.ordinal
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'live_ranges by module_id, instruction_id, shape_index',
    (SELECT count(*) FROM store.live_ranges), count(*)
  FROM store.live_ranges AS t
  GROUP BY t.module_id, t.instruction_id, t.shape_index
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'memory_profile by module_id, color',
    (SELECT count(*) FROM memory_profile), count(*)
  FROM memory_profile AS t
  GROUP BY t.module_id, t.color
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'memory_reports by module_id, color',
    (SELECT count(*) FROM memory_reports), count(*)
  FROM memory_reports AS t
  GROUP BY t.module_id, t.color
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'memory_report_allocations by module_id, allocation_id',
    (SELECT count(*) FROM memory_report_allocations), count(*)
  FROM memory_report_allocations AS t
  GROUP BY t.module_id, t.allocation_id
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'memory_analysis by run_id, path, ordinal',
    (SELECT count(*) FROM memory_analysis), count(*)
  FROM memory_analysis AS t
  GROUP BY t.run_id, t.path, t.ordinal
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'oom_reports by run_id, path, ordinal',
    (SELECT count(*) FROM oom_reports), count(*)
  FROM oom_reports AS t
  GROUP BY t.run_id, t.path, t.ordinal
  HAVING count(*) > 1
  UNION ALL
  SELECT
    'oom_buffers by run_id, path, ordinal, place',
    (SELECT count(*) FROM oom_buffers), count(*)
  FROM oom_buffers AS t
  GROUP BY t.run_id, t.path, t.ordinal, t.place
  HAVING count(*) > 1
)
SELECT
  r.place, CAST(max(r.row_count) - sum(r.copies - 1) AS BIGINT) AS expected,
  CAST(max(r.row_count) - sum(r.copies) AS BIGINT) AS found
FROM repeated AS r
GROUP BY r.place
