-- title: Modules that continue under another number
-- question: Which modules continue under another number?
-- definition: TPU compilers renumber some programs during compilation, such as
--   those with random or complex numbers. If a number of a program has
--   before_optimizations and nothing of after_optimizations, it continues as
--   the next number of that program with the same program_key, run, folder and
--   rank that has after_optimizations and no before_optimizations.
-- grain: run, folder, rank, program, module number before
-- param run
-- param every_run BOOLEAN = false: Use all runs, whatever run says.
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs to use instead of
--   run.
-- column run_id
-- column program
-- column rank
-- column folder VARCHAR name neutral: Folder of its files, with a slash.
-- column module_number INTEGER id neutral: Its number before optimisations.
-- column next_number INTEGER id neutral: Number after that.
WITH wanted AS (
  SELECT c.run_id
  FROM selected_run(run := $run) AS c
  WHERE NOT $every_run
    AND $run_ids IS NULL
  UNION ALL
  SELECT r.run_id
  FROM runs AS r
  WHERE $every_run
    AND $run_ids IS NULL
  UNION ALL
  SELECT u.run_id
  FROM (SELECT DISTINCT unnest($run_ids) AS run_id) AS u
),
numbers AS (
  SELECT
    m.run_id, m.program AS program_name, m.rank, m.folder, m.module_number,
    bool_or(m.stage = 'before_optimizations') AS has_source,
    coalesce(
      bool_or(m.has_assignment OR starts_with(m.stage, 'after_optimizations')),
      FALSE
    ) AS has_result,
    max(
      CASE WHEN m.stage = 'before_optimizations' THEN m.program_key END
    ) AS source_key,
    max(
      CASE WHEN m.has_assignment
        OR starts_with(m.stage, 'after_optimizations') THEN m.program_key END
    ) AS result_key
  FROM wanted AS w
  JOIN modules AS m USING (run_id)
  WHERE m.module_number IS NOT NULL
  GROUP BY m.run_id, m.program, m.rank, m.folder, m.module_number
),
halves AS (
  SELECT
    run_id, program_name, rank, folder, module_number, has_source,
    lead(has_result) OVER numbered AS is_followed,
    lead(module_number) OVER numbered AS next_number
  FROM numbers
  WHERE has_source <> has_result
  WINDOW numbered AS (
    PARTITION BY
      run_id, program_name, rank, folder, coalesce(source_key, result_key)
    ORDER BY module_number
  )
)
SELECT
  h.run_id, h.program_name AS program, h.rank, h.folder, h.module_number,
  h.next_number
FROM halves AS h
WHERE h.has_source
  AND h.is_followed
