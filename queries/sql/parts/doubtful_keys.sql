-- title: Modules, locations and runs that may hold a key twice
-- question: Which owners' rows have to be counted key by key?
-- definition: Of the largest tables: owners (module contents, parts of source
--   locations, or runs) whose rows are not proved to have different keys.
--   Proof is that each row has a greater key than the row before it, which
--   takes a fifth of the time of a group for each key. Rows come in the order
--   in which they are stored: another order would list more owners, never
--   fewer. Instructions are often stored out of order, so those of an owner
--   are counted as a list. Files of a run are in no order: each path is one of
--   16,384 bits, and as many bits are set as there are files, unless a path
--   stands twice or two paths share a bit.
-- grain: table, owner
-- needs: instructions, operands, computations, stack_frames, allocations,
--   values, allocation_values, value_positions, value_uses, schedule,
--   memory_timeline
-- column table_name VARCHAR name neutral: The table.
-- column owner_id BIGINT id neutral: module_id, run_id, or the key of such a
--   part.
WITH steps AS (
  SELECT
    'location_numbers' AS table_name, numbering_id AS owner_id,
    numbering_id = lag(numbering_id) OVER ()
      AND instruction_id > lag(instruction_id) OVER () AS rises
  FROM store.location_numbers
  UNION ALL
  SELECT
    'location_lists', list_id,
    list_id = lag(list_id) OVER ()
      AND location_number > lag(location_number) OVER ()
  FROM store.location_lists
  UNION ALL
  SELECT
    'operands', k.module_id,
    k.module_id = lag(k.module_id) OVER () AND k.key > lag(k.key) OVER ()
  FROM (
    SELECT module_id, t.instruction_id * 4294967296 + t.operand_index AS key
    FROM operands AS t
  ) AS k
  UNION ALL
  SELECT
    'computations', module_id,
    module_id = lag(module_id) OVER ()
      AND computation_id > lag(computation_id) OVER ()
  FROM computations
  UNION ALL
  SELECT
    'stack_frames', frames_id,
    frames_id = lag(frames_id) OVER ()
      AND stack_frame_id > lag(stack_frame_id) OVER ()
  FROM store.stack_frames
  UNION ALL
  SELECT
    'allocations', module_id,
    module_id = lag(module_id) OVER ()
      AND allocation_id > lag(allocation_id) OVER ()
  FROM allocations
  UNION ALL
  SELECT
    'values', module_id,
    module_id = lag(module_id) OVER ()
      AND value_id > lag(value_id) OVER ()
  FROM store."values"
  UNION ALL
  SELECT
    'allocation_values', k.module_id,
    k.module_id = lag(k.module_id) OVER () AND k.key > lag(k.key) OVER ()
  FROM (
    SELECT module_id, t.allocation_id * 4294967296 + t.value_id AS key
    FROM allocation_values AS t
  ) AS k
  UNION ALL
  SELECT
    'value_positions', k.module_id,
    k.module_id = lag(k.module_id) OVER () AND k.key > lag(k.key) OVER ()
  FROM (
    SELECT module_id, t.value_id * 4294967296 + t.ordinal AS key
    FROM store.value_positions AS t
  ) AS k
  UNION ALL
  SELECT
    'value_uses', k.module_id,
    k.module_id = lag(k.module_id) OVER () AND k.key > lag(k.key) OVER ()
  FROM (
    SELECT module_id, t.value_id * 4294967296 + t.ordinal AS key
    FROM store.value_uses AS t
  ) AS k
  UNION ALL
  SELECT
    'schedule', module_id,
    module_id = lag(module_id) OVER ()
      AND step > lag(step) OVER ()
  FROM store.schedule
  UNION ALL
  SELECT
    'memory_timeline', k.module_id,
    k.module_id = lag(k.module_id) OVER () AND k.key > lag(k.key) OVER ()
  FROM (
    SELECT module_id, t.color * 4294967296 + t.from_step AS key
    FROM memory_timeline AS t
  ) AS k
),
unordered_instructions AS (
  SELECT s.module_id
  FROM (
    SELECT
      module_id,
      module_id = lag(module_id) OVER ()
        AND instruction_id > lag(instruction_id) OVER () AS rises
    FROM store.instructions
  ) AS s
  WHERE s.rises IS NOT TRUE
  GROUP BY s.module_id
  HAVING count(*) > 1
),
numbered_files AS (
  SELECT file_id, dense_rank() OVER (ORDER BY path) % 16384 AS path_bit
  FROM store.files
)
SELECT s.table_name, s.owner_id
FROM steps AS s
WHERE s.rises IS NOT TRUE
GROUP BY s.table_name, s.owner_id
HAVING count(*) > 1
UNION ALL
SELECT 'instructions', i.module_id
FROM store.instructions AS i
SEMI JOIN unordered_instructions AS u
  ON u.module_id IS NOT DISTINCT FROM i.module_id
GROUP BY i.module_id
HAVING count(*) <> list_unique(list(i.instruction_id))
UNION ALL
SELECT 'dump_files', r.run_id
FROM store.run_files AS r
JOIN numbered_files AS f USING (file_id)
GROUP BY r.run_id
HAVING count(*) > bit_count(bitstring_agg(f.path_bit, 0, 16383))
