-- What tells compilations of the modules $modules apart beside their opcodes:
-- instructions recomputed on the user's demand (checkpoint) or by XLA (.remat), outputs
-- that may share a parameter's memory, and what is said of sharding, as a digest:
-- of all instructions, and of the kinds that there are, however often (nothing of a
-- program for one device, where it stands beside what is put into the host's memory);
-- and the most VMEM that a kernel of a TPU has for itself (vmem_limit_bytes of Pallas),
-- which is no value's.
WITH wanted AS (
  SELECT DISTINCT unnest(from_json($modules, '["BIGINT"]')) AS module_id
),
alone AS (
  SELECT DISTINCT s.module_id
  FROM wanted
  JOIN store.snapshots AS s USING (module_id)
  WHERE s.num_partitions = 1
    AND s.replica_count = 1
),
-- Fixed before it meets the forms: else the instructions of all modules do.
named AS MATERIALIZED (
  SELECT i.module_id, i.name, i.form_id, a.module_id IS NOT NULL AS is_alone
  FROM wanted
  JOIN store.instructions AS i USING (module_id)
  LEFT JOIN alone AS a USING (module_id)
),
marks AS (
  SELECT
    i.module_id,
    count(*) FILTER (
      WHERE contains(f.op_name, 'rematted_computation')
        OR contains(i.name, '.remat')
    ) AS remat_count,
    count(*) FILTER (WHERE contains(f.op_name, 'remat')) AS remat_mentions,
    hash(list_sort(
      list(f.opcode || ' ' || f.sharding)
        FILTER (WHERE f.sharding IS NOT NULL AND NOT i.is_alone)
    )) AS shardings,
    hash(list_sort(
      list(DISTINCT f.opcode || ' ' || f.sharding)
        FILTER (WHERE f.sharding IS NOT NULL AND NOT i.is_alone)
    )) AS sharding_kinds,
    max(TRY_CAST(regexp_extract(
      f.backend_config,
      '"scoped_memory_configs": ?\[\{"memory_space": ?"?1"?, ?"offset": ?"?0"?, ?'
        || '"size": ?"?([0-9]+)',
      1
    ) AS BIGINT)) FILTER (WHERE f.opcode = 'custom-call') AS scoped_bytes
  FROM named AS i
  JOIN store.instruction_forms AS f USING (form_id)
  GROUP BY i.module_id
),
shares AS (
  SELECT a.module_id, count(*) AS alias_count
  FROM aliases AS a
  JOIN wanted USING (module_id)
  GROUP BY a.module_id
)
SELECT
  w.module_id, coalesce(m.remat_count, 0), coalesce(m.remat_mentions, 0),
  coalesce(s.alias_count, 0), m.shardings, m.sharding_kinds,
  coalesce(m.scoped_bytes, 0)
FROM wanted AS w
LEFT JOIN marks AS m USING (module_id)
LEFT JOIN shares AS s USING (module_id)
ORDER BY w.module_id
