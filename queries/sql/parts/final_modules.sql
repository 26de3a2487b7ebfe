-- title: The last snapshot of every compiled module
-- question: Which snapshot shows a module as it was compiled in the end?
-- definition: Of the occurrences that share run, folder, rank, program and
--   module number: the one with a buffer assignment, else after_optimizations,
--   else the pass snapshot of the highest number, else any other; among equals
--   the first by path and part. A module without a number is known by its
--   path. TPU compilers give some programs a new number on the way, those of
--   random numbers or complex ones for instance: a module that has
--   before_optimizations and nothing of after_optimizations is none of its own
--   where the next number of that program, with the same program_key, has the
--   latter and not the former.
-- grain: compiled module
-- needs: chosen_run, modules, runs
-- param run
-- param program
-- param module_ids
-- column run_id
-- column run
-- column program
-- column module_number
-- column rank
-- column stage
-- column platform
-- column module_id
-- column locations_id
-- column path
-- column folder VARCHAR name neutral: Folder of that path, with a slash.
WITH ranked AS (
  SELECT
    m.run_id, c.run AS run_name, m.program AS program_name, m.module_number,
    m.rank,
    m.stage, coalesce(m.platform, r.platform) AS platform,
    m.module_id, m.locations_id, m.path, m.folder, m.program_key,
    coalesce(bool_or(m.stage = 'before_optimizations') OVER one, FALSE)
      AS has_source,
    coalesce(
      bool_or(
        m.has_assignment OR starts_with(m.stage, 'after_optimizations')
      ) OVER one, FALSE
    ) AS has_result,
    row_number() OVER (
      one
      ORDER BY
        m.has_assignment DESC NULLS LAST,
        m.stage = 'after_optimizations' DESC NULLS LAST,
        m.pass_step DESC NULLS LAST,
        m.stage = 'before_optimizations' NULLS LAST,
        m.path, m.part
    ) AS place
  FROM modules AS m
  JOIN chosen_run(run := $run) AS c USING (run_id)
  JOIN runs AS r USING (run_id)
  WHERE $program IS NULL
    OR m.program = $program
  WINDOW one AS (
    PARTITION BY
      m.run_id, m.rank, m.program, m.module_number, m.folder,
      CASE WHEN m.module_number IS NULL THEN m.path END
  )
),
halves AS (
  SELECT
    *,
    has_source AND NOT has_result AND module_number IS NOT NULL
      AND lead(has_result AND NOT has_source) OVER (
        PARTITION BY run_id, rank, program_name, folder, program_key
        ORDER BY has_source = has_result, module_number
      )
      AS is_renumbered
  FROM ranked
  WHERE place = 1
)
SELECT
  r.run_id, r.run_name AS run, r.program_name AS program, r.module_number,
  r.rank, r.stage, r.platform, r.module_id, r.locations_id, r.path, r.folder
FROM halves AS r
WHERE NOT coalesce(r.is_renumbered, FALSE)
  AND ($module_ids IS NULL OR list_contains($module_ids, r.module_id))
