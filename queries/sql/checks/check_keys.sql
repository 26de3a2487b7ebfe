-- title: No row stands twice
-- question: Which tables hold two rows with the same key?
-- definition: For each table and each of its keys: expected is the number of
--   different keys, found how many of them stand once. The check looks at the
--   whole warehouse.
-- grain: table, key
-- needs: runs, dump_files, modules, computations, instructions, operands,
--   called_computations, stack_frames, allocations, values,
--   allocation_values, value_positions, value_uses, schedule, live_ranges,
--   memory_profile, memory_timeline, memory_reports,
--   memory_report_allocations, memory_analysis, oom_reports, oom_buffers
-- column place VARCHAR text neutral: What is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
WITH keys AS MATERIALIZED (
  -- The tables with most rows: a list for each module takes half the time that
  -- a group for each key does, which is left for those with too many rows.
  SELECT
    'instructions by module_id, instruction_id' AS place,
    module_id AS owner_id, count(*) AS row_count,
    list_unique(list(instruction_id)) AS key_count
  FROM store.instructions
  GROUP BY module_id
  UNION ALL
  SELECT
    'operands by module_id, instruction_id, operand_index', module_id,
    count(*), list_unique(list(instruction_id * 4294967296 + operand_index))
  FROM operands
  GROUP BY module_id
  UNION ALL
  SELECT
    'location_numbers by numbering_id, instruction_id', numbering_id, count(*),
    list_unique(list(instruction_id))
  FROM store.location_numbers
  GROUP BY numbering_id
),
doubtful AS (
  SELECT k.place, k.owner_id FROM keys AS k WHERE k.row_count <> k.key_count
),
repeated AS (
  SELECT d.place
  FROM doubtful AS d
  JOIN store.instructions AS i ON i.module_id = d.owner_id
  WHERE d.place LIKE 'instructions by%'
  GROUP BY d.place, i.module_id, i.instruction_id
  HAVING count(*) > 1
  UNION ALL
  SELECT d.place
  FROM doubtful AS d
  JOIN operands AS o ON o.module_id = d.owner_id
  WHERE d.place LIKE 'operands by%'
  GROUP BY d.place, o.module_id, o.instruction_id, o.operand_index
  HAVING count(*) > 1
  UNION ALL
  SELECT d.place
  FROM doubtful AS d
  JOIN store.location_numbers AS l ON l.numbering_id = d.owner_id
  WHERE d.place LIKE 'location_numbers by%'
  GROUP BY d.place, l.numbering_id, l.instruction_id
  HAVING count(*) > 1
),
counted AS (
  SELECT
    k.place, CAST(sum(k.key_count) AS BIGINT) AS expected,
    CAST(sum(k.key_count) AS BIGINT)
      - (SELECT count(*) FROM repeated AS r WHERE r.place = k.place) AS found
  FROM keys AS k
  GROUP BY k.place
  UNION ALL
  SELECT
    'runs by run_id' AS place, count(*) AS expected,
    count(*) FILTER (WHERE copies = 1) AS found
  FROM (
    SELECT count(*) AS copies FROM runs AS t
    GROUP BY t.run_id
  )
  UNION ALL
  SELECT
    'runs by name', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM runs AS t
    GROUP BY t.name
  )
  UNION ALL
  SELECT
    'dump_files by run_id, path', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM dump_files AS t
    GROUP BY t.run_id, t.path
  )
  UNION ALL
  SELECT
    'modules by run_id, path, part', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM modules AS t
    GROUP BY t.run_id, t.path, t.part
  )
  UNION ALL
  SELECT
    'computations by module_id, computation_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM computations AS t
    GROUP BY t.module_id, t.computation_id
  )
  UNION ALL
  SELECT
    'instruction_forms by form_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.instruction_forms AS t
    GROUP BY t.form_id
  )
  UNION ALL
  SELECT
    'instruction_forms by form_key', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.instruction_forms AS t
    GROUP BY t.form_key
  )
  UNION ALL
  SELECT
    'called_computations by module_id, instruction_id, role, ordinal',
    count(*), count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM called_computations AS t
    GROUP BY t.module_id, t.instruction_id, t.role, t.ordinal
  )
  UNION ALL
  SELECT
    'stack_frames by frames_id, stack_frame_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.stack_frames AS t
    GROUP BY t.frames_id, t.stack_frame_id
  )
  UNION ALL
  SELECT
    'snapshots by snapshot_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.snapshots AS t
    GROUP BY t.snapshot_id
  )
  UNION ALL
  SELECT
    'snapshots by snapshot_key', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.snapshots AS t
    GROUP BY t.snapshot_key
  )
  UNION ALL
  SELECT
    'paths by path_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.paths AS t
    GROUP BY t.path_id
  )
  UNION ALL
  SELECT
    'paths by path_key', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.paths AS t
    GROUP BY t.path_key
  )
  UNION ALL
  SELECT
    'files by file_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.files AS t
    GROUP BY t.file_id
  )
  UNION ALL
  SELECT
    'files by file_key', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.files AS t
    GROUP BY t.file_key
  )
  UNION ALL
  SELECT
    'location_sets by locations_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.location_sets AS t
    GROUP BY t.locations_id
  )
  UNION ALL
  SELECT
    'location_lists by list_id, location_number', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.location_lists AS t
    GROUP BY t.list_id, t.location_number
  )
  UNION ALL
  SELECT
    'allocations by module_id, allocation_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM allocations AS t
    GROUP BY t.module_id, t.allocation_id
  )
  UNION ALL
  SELECT
    'values by module_id, value_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store."values" AS t
    GROUP BY t.module_id, t.value_id
  )
  UNION ALL
  SELECT
    'allocation_values by module_id, allocation_id, value_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM allocation_values AS t
    GROUP BY t.module_id, t.allocation_id, t.value_id
  )
  UNION ALL
  SELECT
    'value_positions by module_id, value_id, ordinal', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.value_positions AS t
    GROUP BY t.module_id, t.value_id, t.ordinal
  )
  UNION ALL
  SELECT
    'value_uses by module_id, value_id, ordinal', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.value_uses AS t
    GROUP BY t.module_id, t.value_id, t.ordinal
  )
  UNION ALL
  SELECT
    'schedule by module_id, step', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.schedule AS t
    GROUP BY t.module_id, t.step
  )
  UNION ALL
  SELECT
    'live_ranges by module_id, instruction_id, shape_index', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM store.live_ranges AS t
    GROUP BY t.module_id, t.instruction_id, t.shape_index
  )
  UNION ALL
  SELECT
    'memory_profile by module_id, color', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM memory_profile AS t
    GROUP BY t.module_id, t.color
  )
  UNION ALL
  SELECT
    'memory_timeline by module_id, color, from_step', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM memory_timeline AS t
    GROUP BY t.module_id, t.color, t.from_step
  )
  UNION ALL
  SELECT
    'memory_reports by module_id, color', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM memory_reports AS t
    GROUP BY t.module_id, t.color
  )
  UNION ALL
  SELECT
    'memory_report_allocations by module_id, allocation_id', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM memory_report_allocations AS t
    GROUP BY t.module_id, t.allocation_id
  )
  UNION ALL
  SELECT
    'memory_analysis by run_id, path, ordinal', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM memory_analysis AS t
    GROUP BY t.run_id, t.path, t.ordinal
  )
  UNION ALL
  SELECT
    'oom_reports by run_id, path, ordinal', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM oom_reports AS t
    GROUP BY t.run_id, t.path, t.ordinal
  )
  UNION ALL
  SELECT
    'oom_buffers by run_id, path, ordinal, place', count(*),
    count(*) FILTER (WHERE copies = 1)
  FROM (
    SELECT count(*) AS copies FROM oom_buffers AS t
    GROUP BY t.run_id, t.path, t.ordinal, t.place
  )
)
SELECT c.place, c.expected, c.found
FROM counted AS c
WHERE c.expected <> c.found
