-- title: Every reference resolves
-- question: Which rows of the warehouse refer to rows that are not there?
-- definition: For each table and each key that it refers by: rows without the
--   row they name. expected is 0. NULL refers to nothing. The check looks at
--   the whole warehouse.
-- grain: reference
-- needs: computations, modules, instructions, operands, called_computations,
--   aliases, allocations, values, allocation_values, value_positions,
--   value_uses, schedule, live_ranges, printed_peaks, memory_profile,
--   memory_timeline, memory_reports, memory_report_allocations,
--   memory_report_values, runs, rejects, compiler_flags, passes,
--   memory_analysis, proto_comparisons, oom_reports, oom_buffers, stack_frames
-- column place VARCHAR text neutral: What is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
WITH known AS MATERIALIZED (
  SELECT DISTINCT module_id FROM modules
),
references_to_instructions AS (
  SELECT 'operands' AS referrer, module_id, instruction_id
  FROM operands
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT 'operands', module_id, operand_id
  FROM operands
  WHERE operand_id IS NOT NULL
  UNION ALL
  SELECT 'called_computations', module_id, instruction_id
  FROM called_computations
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT 'values', module_id, instruction_id
  FROM store."values"
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT 'value_positions', module_id, instruction_id
  FROM store.value_positions
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT 'value_uses', module_id, instruction_id
  FROM store.value_uses
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT 'schedule', module_id, instruction_id
  FROM store.schedule
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT 'live_ranges', module_id, instruction_id
  FROM store.live_ranges
  WHERE instruction_id IS NOT NULL
),
dangling AS (
  SELECT 'computations without a module' AS place, module_id AS example
  FROM computations
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'instructions without a module', module_id
  FROM store.instructions
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'operands without a module', module_id
  FROM operands
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'called_computations without a module', module_id
  FROM called_computations
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'aliases without a module', module_id
  FROM aliases
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'allocations without a module', module_id
  FROM allocations
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'values without a module', module_id
  FROM store."values"
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'allocation_values without a module', module_id
  FROM allocation_values
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'value_positions without a module', module_id
  FROM store.value_positions
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'value_uses without a module', module_id
  FROM store.value_uses
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'schedule without a module', module_id
  FROM store.schedule
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'live_ranges without a module', module_id
  FROM store.live_ranges
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'printed_peaks without a module', module_id
  FROM printed_peaks
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'memory_profile without a module', module_id
  FROM memory_profile
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'memory_timeline without a module', module_id
  FROM memory_timeline
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'memory_reports without a module', module_id
  FROM memory_reports
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'memory_report_allocations without a module', module_id
  FROM memory_report_allocations
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'memory_report_values without a module', module_id
  FROM memory_report_values
  WHERE module_id NOT IN (SELECT module_id FROM known)
  UNION ALL
  SELECT 'modules without a run', run_id
  FROM store.occurrences
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'dump_files without a run', run_id
  FROM store.run_files
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'rejects without a run', run_id
  FROM rejects
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'compiler_flags without a run', run_id
  FROM compiler_flags
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'passes without a run', run_id
  FROM passes
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'memory_analysis without a run', run_id
  FROM memory_analysis
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'proto_comparisons without a run', run_id
  FROM proto_comparisons
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'oom_reports without a run', run_id
  FROM oom_reports
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'oom_buffers without a run', run_id
  FROM oom_buffers
  WHERE run_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'locations without a module', locations_id
  FROM store.location_sets
  WHERE locations_id NOT IN (
    SELECT locations_id FROM store.snapshots WHERE locations_id IS NOT NULL
  )
  UNION ALL
  SELECT 'location_numbers without a set', numbering_id
  FROM store.location_numbers
  WHERE numbering_id NOT IN (SELECT numbering_id FROM store.location_sets)
  UNION ALL
  SELECT 'location_lists without a set', list_id
  FROM store.location_lists
  WHERE list_id NOT IN (SELECT list_id FROM store.location_sets)
  UNION ALL
  SELECT 'stack_frames without a set', frames_id
  FROM store.stack_frames
  WHERE frames_id NOT IN (SELECT frames_id FROM store.location_sets)
  UNION ALL
  SELECT 'location_numbers without a location', s.locations_id
  FROM store.location_sets AS s
  JOIN (
    SELECT numbering_id, max(location_number) AS last_number
    FROM store.location_numbers
    GROUP BY numbering_id
  ) AS n USING (numbering_id)
  LEFT JOIN (
    SELECT list_id, count(*) AS location_count
    FROM store.location_lists
    GROUP BY list_id
  ) AS l USING (list_id)
  WHERE n.last_number >= coalesce(l.location_count, 0)
  UNION ALL
  SELECT 'modules without a snapshot', snapshot_id
  FROM store.occurrences
  WHERE snapshot_id NOT IN (SELECT snapshot_id FROM store.snapshots)
  UNION ALL
  SELECT 'modules without a path', path_id
  FROM store.occurrences
  WHERE path_id NOT IN (SELECT path_id FROM store.paths)
  UNION ALL
  SELECT 'dump_files without a file', file_id
  FROM store.run_files
  WHERE file_id NOT IN (SELECT file_id FROM store.files)
  UNION ALL
  SELECT 'snapshots without a module', snapshot_id
  FROM store.snapshots
  WHERE snapshot_id NOT IN (SELECT snapshot_id FROM store.occurrences)
  UNION ALL
  SELECT 'paths without a module', path_id
  FROM store.paths
  WHERE path_id NOT IN (SELECT path_id FROM store.occurrences)
  UNION ALL
  SELECT 'files without a run', file_id
  FROM store.files
  WHERE file_id NOT IN (SELECT file_id FROM store.run_files)
  UNION ALL
  SELECT 'instructions without a form', c.module_id
  FROM store.instructions AS c
  ANTI JOIN store.instruction_forms AS p
    ON p.form_id = c.form_id
  UNION ALL
  SELECT 'forms without an instruction', c.form_id
  FROM store.instruction_forms AS c
  ANTI JOIN store.instructions AS p
    ON p.form_id = c.form_id
  UNION ALL
  SELECT 'instructions without a computation', c.module_id
  FROM store.instructions AS c
  ANTI JOIN computations AS p
    ON p.module_id = c.module_id
    AND p.computation_id = c.computation_id
  WHERE c.computation_id IS NOT NULL
  UNION ALL
  -- Together, as the table of all instructions takes longest to make ready.
  SELECT r.referrer || ' without an instruction', r.module_id
  FROM references_to_instructions AS r
  ANTI JOIN store.instructions AS p
    ON p.module_id = r.module_id
    AND p.instruction_id = r.instruction_id
  UNION ALL
  SELECT 'computations without a root', c.module_id
  FROM computations AS c
  ANTI JOIN store.instructions AS p
    ON p.module_id = c.module_id
    AND p.instruction_id = c.root_instruction_id
  WHERE c.root_instruction_id IS NOT NULL
  UNION ALL
  SELECT 'called_computations without a computation', c.module_id
  FROM called_computations AS c
  ANTI JOIN computations AS p
    ON p.module_id = c.module_id
    AND p.computation_id = c.computation_id
  WHERE c.computation_id IS NOT NULL
  UNION ALL
  SELECT 'allocation_values without a value', c.module_id
  FROM allocation_values AS c
  ANTI JOIN store."values" AS p
    ON p.module_id = c.module_id
    AND p.value_id = c.value_id
  WHERE c.value_id IS NOT NULL
  UNION ALL
  SELECT 'value_positions without a value', c.module_id
  FROM store.value_positions AS c
  ANTI JOIN store."values" AS p
    ON p.module_id = c.module_id
    AND p.value_id = c.value_id
  WHERE c.value_id IS NOT NULL
  UNION ALL
  SELECT 'value_uses without a value', c.module_id
  FROM store.value_uses AS c
  ANTI JOIN store."values" AS p
    ON p.module_id = c.module_id
    AND p.value_id = c.value_id
  WHERE c.value_id IS NOT NULL
  UNION ALL
  SELECT 'live_ranges without a value', c.module_id
  FROM store.live_ranges AS c
  ANTI JOIN store."values" AS p
    ON p.module_id = c.module_id
    AND p.value_id = c.value_id
  WHERE c.value_id IS NOT NULL
  UNION ALL
  SELECT 'allocation_values without an allocation', c.module_id
  FROM allocation_values AS c
  ANTI JOIN allocations AS p
    ON p.module_id = c.module_id
    AND p.allocation_id = c.allocation_id
  UNION ALL
  SELECT 'allocations without a profile', c.module_id
  FROM allocations AS c
  ANTI JOIN memory_profile AS p
    ON p.module_id = c.module_id
    AND p.color = c.color
  UNION ALL
  SELECT 'oom_buffers without a report', c.run_id
  FROM oom_buffers AS c
  ANTI JOIN oom_reports AS p
    ON p.run_id = c.run_id
    AND p.path = c.path
    AND p.ordinal = c.ordinal
)
SELECT
  place || ', such as ' || max(example) AS place,
  CAST(0 AS BIGINT) AS expected, count(*) AS found
FROM dangling
GROUP BY dangling.place
