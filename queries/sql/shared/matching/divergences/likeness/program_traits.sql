-- step: What a program says of recomputation, sharding and scoped memory. The
--   sharding of a program for one device is left out: it only says what is put
--   into the memory of the host.
-- grain: program
WITH for_one_device AS (
  SELECT DISTINCT s.module_id
  FROM compilation_sides AS p
  JOIN store.snapshots AS s ON s.module_id = p.earliest_id
  WHERE s.num_partitions = 1
    AND s.replica_count = 1
),
traits AS MATERIALIZED (
  SELECT
    d.module_id,
    sum(
      CASE
        WHEN contains(d.op_name, 'rematted_computation') THEN d.times
        ELSE d.remat_times
      END
    ) AS remat_count,
    coalesce(sum(d.times) FILTER (WHERE contains(d.op_name, 'remat')), 0)
      AS remat_mentions,
    list_sort(list(DISTINCT d.operation || ' ' || d.sharding)
      FILTER (WHERE d.sharding IS NOT NULL AND a.module_id IS NULL))
      AS sharding_kinds,
    coalesce(max(TRY_CAST(regexp_extract(
      d.backend_config,
      '"scoped_memory_configs": ?\[\{"memory_space": ?"?1"?, ?"offset": ?'
        || '"?0"?, ?"size": ?"?([0-9]+)',
      1
    ) AS BIGINT)) FILTER (WHERE d.operation = 'custom-call'), 0)
      AS scoped_bytes
  FROM compared_forms AS d
  LEFT JOIN for_one_device AS a USING (module_id)
  GROUP BY d.module_id
),
shardings AS MATERIALIZED (
  SELECT
    g.module_id, list_sort(list(g.sharding || ' ' || g.times)) AS shardings
  FROM (
    SELECT
      d.module_id, d.operation || ' ' || d.sharding AS sharding,
      sum(d.times) AS times
    FROM compared_forms AS d
    ANTI JOIN for_one_device AS a USING (module_id)
    WHERE d.sharding IS NOT NULL
    GROUP BY ALL
  ) AS g
  GROUP BY g.module_id
)
SELECT t.*, s.shardings
FROM traits AS t
LEFT JOIN shardings AS s USING (module_id)
