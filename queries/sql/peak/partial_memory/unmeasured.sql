-- step: Modules without a live peak: a part of their dump is missing.
-- grain: module
WITH final_occurrences AS MATERIALIZED (
  SELECT
    f.run, f.program, f.module_number, f.rank, f.module_id, f.path,
    f.platform, m.entry_computation_id, m.is_scheduled, m.has_assignment,
    m.instruction_count, m.part,
    CASE
      WHEN m.stage = 'before_optimizations'
        THEN greatest(1, coalesce(m.num_partitions, 1))
      ELSE 1
    END AS split_count
  FROM final_modules() AS f
  JOIN modules AS m
    ON m.run_id = f.run_id
    AND m.module_id = f.module_id
    AND m.path = f.path
)
SELECT *
FROM final_occurrences AS f
WHERE NOT EXISTS (
  SELECT 1
  FROM memory_profile AS p
  WHERE p.module_id = f.module_id
    AND p.live_peak_bytes IS NOT NULL
)
