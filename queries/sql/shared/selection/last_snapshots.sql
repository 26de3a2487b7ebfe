-- title: Last snapshot of every module
-- question: Which snapshot of each module was written last, and which one was
--   it compiled from?
-- definition: Among the occurrences with the same run, folder, rank, program
--   and module number, the one with a buffer assignment, else
--   after_optimizations, else the pass snapshot with the highest number, else
--   any other; among equals the first by path and part. A module without a
--   number is identified by its path. A module that continues under a new
--   number is one module with that number, see renumbered_modules.
-- grain: compiled module
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
WITH wanted AS (
  SELECT c.run_id, c.run AS run_name
  FROM selected_run(run := $run) AS c
  WHERE $run_ids IS NULL
  UNION ALL
  SELECT r.run_id, r.name
  FROM (SELECT DISTINCT unnest($run_ids) AS run_id) AS u
  JOIN runs AS r USING (run_id)
),
numbered AS MATERIALIZED (
  SELECT
    m.run_id, m.program, m.program_key, m.module_number, m.rank, m.stage,
    m.platform, m.module_id, m.locations_id, m.path, m.part, m.folder,
    m.graph_fingerprint, m.exact_fingerprint, m.num_partitions,
    m.entry_layout, coalesce(m.has_assignment, FALSE) AS has_assignment,
    m.pass_step, c.run_name, n.next_number,
    coalesce(n.next_number, m.module_number) AS last_number,
    coalesce(m.stage = 'before_optimizations', FALSE) AS is_source
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
),
sources AS (
  SELECT
    m.run_id, m.rank, m.program, m.last_number, m.folder,
    arg_min(m.module_id, (m.path, m.part)) FILTER (WHERE m.is_source)
      AS source_id,
    arg_min(m.graph_fingerprint, (m.path, m.part)) FILTER (WHERE m.is_source)
      AS source_graph,
    arg_min(m.entry_layout, (m.path, m.part)) FILTER (WHERE m.is_source)
      AS source_layout,
    arg_min(m.exact_fingerprint, (m.path, m.part)) FILTER (WHERE m.is_source)
      AS source_exact,
    max(m.module_number) FILTER (WHERE m.next_number IS NOT NULL)
      AS first_number
  FROM numbered AS m
  WHERE m.is_source
    OR m.next_number IS NOT NULL
  GROUP BY m.run_id, m.rank, m.program, m.last_number, m.folder
),
-- Grouped: a window over all snapshots takes four times as long.
latest AS (
  SELECT
    m.run_id, m.rank, m.program, m.last_number, m.folder,
    unnest(arg_min(
      struct_pack(
        run_name := m.run_name, program_key := m.program_key,
        module_number := m.module_number, stage := m.stage,
        platform := m.platform, module_id := m.module_id,
        locations_id := m.locations_id, path := m.path, part := m.part,
        graph_fingerprint := m.graph_fingerprint,
        exact_fingerprint := m.exact_fingerprint,
        num_partitions := m.num_partitions, entry_layout := m.entry_layout,
        has_assignment := m.has_assignment
      ),
      (
        m.next_number IS NOT NULL, NOT m.has_assignment,
        m.stage IS DISTINCT FROM 'after_optimizations',
        coalesce(-m.pass_step, 1), m.is_source, m.path, m.part
      )
    ))
  FROM numbered AS m
  GROUP BY
    m.run_id, m.rank, m.program, m.last_number, m.folder,
    CASE WHEN m.module_number IS NULL THEN m.path END
)
SELECT
  l.run_id, l.run_name AS run, l.program, l.program_key, l.module_number,
  l.rank, l.stage, l.platform, l.module_id, l.locations_id, l.path, l.part,
  l.folder, l.graph_fingerprint, l.exact_fingerprint, s.source_id,
  s.source_graph, s.source_layout, s.source_exact, l.num_partitions,
  l.entry_layout, l.has_assignment, s.first_number
FROM latest AS l
LEFT JOIN sources AS s
  ON s.run_id = l.run_id
  AND s.rank IS NOT DISTINCT FROM l.rank
  AND s.program IS NOT DISTINCT FROM l.program
  AND s.last_number IS NOT DISTINCT FROM l.last_number
  AND s.folder IS NOT DISTINCT FROM l.folder
