-- title: Snapshots of every module, the last first
-- question: In which order were the snapshots of a module written, from the
--   last?
-- definition: Among the occurrences with the same run, folder, rank, program
--   and module number, place 1 is the one with a buffer assignment, else
--   after_optimizations, else the pass snapshot with the highest number, else
--   any other; among equals the first by path and part. A module without a
--   number is identified by its path. A module that continues under a new
--   number is one module with that number, see renumbered_modules.
-- grain: module occurrence
-- param run
-- param program
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs to use instead of
--   run.
-- column run_id
-- column run
-- column program
-- column program_key BIGINT id neutral: Hash of program, entry shapes and
--   partitions.
-- column module_number
-- column rank
-- column stage
-- column platform VARCHAR name neutral: Platform in the file name.
-- column module_id
-- column locations_id
-- column path
-- column part INTEGER id neutral: Number of the module in that file.
-- column folder VARCHAR name neutral: Folder of that path, with a slash.
-- column graph_fingerprint BIGINT id neutral: Hash of its graph.
-- column exact_fingerprint BIGINT id neutral: The same with layouts, schedule
--   and backend config.
-- column source_id BIGINT id neutral: Content of the before_optimizations
--   snapshot; NULL where there is none.
-- column source_graph BIGINT id neutral: Its graph_fingerprint.
-- column source_layout VARCHAR text neutral: Its entry layout.
-- column source_exact BIGINT id neutral: Its exact_fingerprint.
-- column num_partitions INTEGER count neutral: Number of partitions.
-- column entry_layout VARCHAR text neutral: Shapes and layouts of its entry
--   computation.
-- column has_assignment BOOLEAN flag neutral: Whether it has a buffer
--   assignment.
-- column first_number INTEGER id neutral: Number of its first snapshots, if it
--   continued under another.
-- column place BIGINT id neutral: 1 for the last snapshot.
WITH wanted AS (
  SELECT c.run_id, c.run AS run_name
  FROM selected_run(run := $run) AS c
  WHERE $run_ids IS NULL
  UNION ALL
  SELECT r.run_id, r.name
  FROM (SELECT DISTINCT unnest($run_ids) AS run_id) AS u
  JOIN runs AS r USING (run_id)
),
numbered AS (
  SELECT
    m.*, c.run_name, n.next_number,
    coalesce(n.next_number, m.module_number) AS last_number,
    m.stage = 'before_optimizations' AS is_source
  FROM modules AS m
  JOIN wanted AS c USING (run_id)
  LEFT JOIN renumbered_modules(run := $run, run_ids := $run_ids) AS n
    ON n.run_id = m.run_id
    AND n.program = m.program
    AND n.rank IS NOT DISTINCT FROM m.rank
    AND n.module_number = m.module_number
    AND n.folder = m.folder
  WHERE $program IS NULL
    OR m.program = $program
)
SELECT
  m.run_id, m.run_name AS run, m.program, m.program_key, m.module_number,
  m.rank, m.stage, m.platform, m.module_id, m.locations_id, m.path, m.part,
  m.folder, m.graph_fingerprint, m.exact_fingerprint,
  first_value(CASE WHEN m.is_source THEN m.module_id END IGNORE NULLS)
    OVER compilation AS source_id,
  first_value(CASE WHEN m.is_source THEN m.graph_fingerprint END IGNORE NULLS)
    OVER compilation AS source_graph,
  first_value(CASE WHEN m.is_source THEN m.entry_layout END IGNORE NULLS)
    OVER compilation AS source_layout,
  first_value(CASE WHEN m.is_source THEN m.exact_fingerprint END IGNORE NULLS)
    OVER compilation AS source_exact,
  m.num_partitions, m.entry_layout,
  coalesce(m.has_assignment, FALSE) AS has_assignment,
  max(CASE WHEN m.next_number IS NOT NULL THEN m.module_number END)
    OVER compilation AS first_number,
  row_number() OVER (
    PARTITION BY
      m.run_id, m.rank, m.program, m.last_number, m.folder,
      CASE WHEN m.module_number IS NULL THEN m.path END
    ORDER BY
      m.next_number IS NULL DESC,
      m.has_assignment DESC NULLS LAST,
      m.stage = 'after_optimizations' DESC NULLS LAST,
      m.pass_step DESC NULLS LAST,
      m.is_source NULLS LAST,
      m.path, m.part
  ) AS place
FROM numbered AS m
WINDOW
  compilation AS (
    PARTITION BY m.run_id, m.rank, m.program, m.last_number, m.folder
    ORDER BY m.path, m.part
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  )
