-- title: The last snapshot of every compiled module
-- question: Which snapshot shows a module as it was compiled in the end?
-- definition: Of the occurrences that share run, folder, rank, program and
--   module number: the one with a buffer assignment, else after_optimizations,
--   else the pass snapshot of the highest number, else any other; among equals
--   the first by path and part. A module without a number is known by its
--   path. What goes on under a new number is one module with that, see
--   renumbered_modules.
-- grain: compiled module
-- needs: chosen_run, modules, renumbered_modules, runs
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
-- column has_source BOOLEAN flag neutral: Whether a before_optimizations
--   snapshot of it is there.
WITH ranked AS (
  SELECT
    m.run_id, c.run AS run_name, m.program AS program_name, m.module_number,
    m.rank,
    m.stage, coalesce(m.platform, r.platform) AS platform,
    m.module_id, m.locations_id, m.path, m.folder,
    coalesce(
      bool_or(m.stage = 'before_optimizations') OVER (
        PARTITION BY
          m.run_id, m.rank, m.program,
          coalesce(n.next_number, m.module_number), m.folder
      ), FALSE
    ) AS has_source,
    row_number() OVER (
      PARTITION BY
        m.run_id, m.rank, m.program, coalesce(n.next_number, m.module_number),
        m.folder, CASE WHEN m.module_number IS NULL THEN m.path END
      ORDER BY
        n.next_number IS NULL DESC,
        m.has_assignment DESC NULLS LAST,
        m.stage = 'after_optimizations' DESC NULLS LAST,
        m.pass_step DESC NULLS LAST,
        m.stage = 'before_optimizations' NULLS LAST,
        m.path, m.part
    ) AS place
  FROM modules AS m
  JOIN chosen_run(run := $run) AS c USING (run_id)
  JOIN runs AS r USING (run_id)
  LEFT JOIN renumbered_modules(run := $run) AS n
    ON n.run_id = m.run_id
    AND n.program = m.program
    AND n.rank IS NOT DISTINCT FROM m.rank
    AND n.module_number = m.module_number
    AND n.folder = m.folder
  WHERE $program IS NULL
    OR m.program = $program
)
SELECT
  r.run_id, r.run_name AS run, r.program_name AS program, r.module_number,
  r.rank, r.stage, r.platform, r.module_id, r.locations_id, r.path, r.folder,
  r.has_source
FROM ranked AS r
WHERE r.place = 1
  AND ($module_ids IS NULL OR list_contains($module_ids, r.module_id))
