-- title: Modules of several runs as they were compiled in the end
-- question: Which modules do runs hold, and what was each compiled from?
-- definition: Of every module the one of last_snapshots, with the
--   before_optimizations snapshot that it was compiled from. Shapes are entry
--   layouts without layouts and blanks. Numbered within a run by rank,
--   program, module number and path.
-- grain: compiled module
-- param run_ids BIGINT[] = NULL from 0: Numbers of the runs; NULL for the
--   latest run.
-- param words_of BIGINT = NULL from 0: Number of the run in whose words ranks
--   are: of a run whose files name no rank and one of a single rank both are
--   of one host. NULL for those of the files.
-- column run_id
-- column run
-- column place BIGINT id neutral: Its place among the modules of the run.
-- column program
-- column program_key BIGINT id neutral: Of program, entry shapes and
--   partitions.
-- column module_number
-- column first_number INTEGER id neutral: Number of its first snapshots, where
--   it went on under another.
-- column rank
-- column own_rank INTEGER id neutral: Rank that its files name.
-- column platform
-- column num_partitions INTEGER count neutral: Partitions that it says.
-- column entry_shapes VARCHAR text neutral: Entry layout without layouts.
-- column source_shapes VARCHAR text neutral: The same before optimisations.
-- column module_id
-- column locations_id
-- column graph_fingerprint BIGINT id neutral: Of its graph.
-- column exact_fingerprint BIGINT id neutral: The same with layouts, schedule
--   and backend config.
-- column source_id BIGINT id neutral: Content of the before_optimizations
--   snapshot; NULL where there is none.
-- column source_graph BIGINT id neutral: Its graph_fingerprint.
-- column source_exact BIGINT id neutral: Its exact_fingerprint.
-- column path
-- column folder VARCHAR name neutral: Folder of that path, with a slash.
-- column has_assignment BOOLEAN flag neutral: Whether it has a buffer
--   assignment.
WITH snapshots AS MATERIALIZED (
  SELECT n.* FROM last_snapshots() AS n
),
-- Each layout once: most are those of many runs.
layouts AS MATERIALIZED (
  SELECT
    l.layout,
    -- Releases until 2023 print no blanks between parameters.
    regexp_replace(l.layout, '\{[^}]*\}|\s', '', 'g') AS shapes
  FROM (
    SELECT n.entry_layout AS layout FROM snapshots AS n
    UNION
    SELECT n.source_layout FROM snapshots AS n
  ) AS l
),
ranks AS (
  SELECT
    n.run_id, any_value(n.rank) AS lone_rank,
    count(DISTINCT n.rank) + CAST(bool_or(n.rank IS NULL) AS INTEGER) = 1
      AS is_lone
  FROM snapshots AS n
  WHERE $words_of IS NOT NULL
  GROUP BY n.run_id
),
hosts_alone AS (
  SELECT
    b.run_id, c.lone_rank AS host_rank,
    b.is_lone AND c.is_lone
    AND (b.lone_rank IS NULL) <> (c.lone_rank IS NULL) AS is_one_host
  FROM ranks AS b
  JOIN ranks AS c ON c.run_id = $words_of
)
SELECT
  s.run_id, s.run,
  row_number() OVER (
    PARTITION BY s.run_id
    ORDER BY s.rank, s.program, s.module_number, s.path, s.part
  ) AS place,
  s.program, s.program_key, s.module_number, s.first_number,
  CASE WHEN h.is_one_host THEN h.host_rank ELSE s.rank END AS rank,
  s.rank AS own_rank,
  coalesce(s.platform, r.platform) AS platform, s.num_partitions,
  e.shapes AS entry_shapes, o.shapes AS source_shapes,
  s.module_id, s.locations_id, s.graph_fingerprint, s.exact_fingerprint,
  s.source_id, s.source_graph, s.source_exact, s.path, s.folder,
  s.has_assignment
FROM snapshots AS s
JOIN runs AS r USING (run_id)
LEFT JOIN layouts AS e ON e.layout = s.entry_layout
LEFT JOIN layouts AS o ON o.layout = s.source_layout
LEFT JOIN hosts_alone AS h USING (run_id)
