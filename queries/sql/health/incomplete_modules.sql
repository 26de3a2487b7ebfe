-- title: Modules with missing files
-- question: Which modules lack a companion file, and so cannot answer some
--   questions?
-- definition: Compiled modules of a run, one per rank, program and number.
--   missing lists what the last snapshot lacks: hlo (no instructions with a
--   computation), buffer_assignment, live_ranges; and before_optimizations if
--   there is no such snapshot. A module with nothing but instructions was not
--   compiled: JAX took it from its compilation cache, for which XLA dumps only
--   the final text (set JAX_ENABLE_COMPILATION_CACHE=false to compile
--   everything). Complete modules are listed only if complete is true.
-- grain: compiled module
-- leading: run, program, rank, stage, missing, missing_count, path
-- param run
-- param program
-- param complete BOOLEAN = false: Include complete modules.
-- column run
-- column program
-- column module_number
-- column rank
-- column stage VARCHAR name neutral: Stage of its last snapshot.
-- column missing VARCHAR text lower_is_better: Missing parts, separated by
--   commas.
-- column missing_count BIGINT count lower_is_better: Number of missing parts.
-- column path
WITH facts AS (
  SELECT
    f.run AS run_name, f.program AS program_name, f.module_number, f.rank,
    f.stage AS stage_name, f.path,
    max(m.instruction_count) AS instruction_count,
    bool_or(m.has_assignment) AS has_assignment,
    bool_or(m.has_live_ranges) AS has_live_ranges, f.has_source
  FROM final_modules() AS f
  JOIN modules AS m
    ON m.run_id = f.run_id
    AND m.module_id = f.module_id
    AND m.path = f.path
  GROUP BY ALL
),
listed AS (
  SELECT
    *,
    list_filter([
      CASE WHEN coalesce(instruction_count, 0) = 0 THEN 'hlo' END,
      CASE WHEN NOT coalesce(has_assignment, FALSE) THEN 'buffer_assignment'
        END,
      CASE WHEN NOT coalesce(has_live_ranges, FALSE) THEN 'live_ranges' END,
      CASE WHEN NOT has_source THEN 'before_optimizations' END
    ], lambda x: x IS NOT NULL) AS lacks
  FROM facts
)
SELECT
  l.run_name AS run, l.program_name AS program, l.module_number, l.rank,
  l.stage_name AS stage, array_to_string(l.lacks, ', ') AS missing,
  CAST(len(l.lacks) AS BIGINT) AS missing_count, l.path
FROM listed AS l
WHERE len(l.lacks) > 0
  OR $complete
ORDER BY missing_count DESC, l.rank, l.module_number, l.path
