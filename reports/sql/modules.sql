-- The last snapshot of every compiled module of the runs $runs, with what it was
-- compiled from: the before_optimizations snapshot of the same run, folder, rank,
-- program and number, or of the number before (see renumbered_modules). The order is
-- that of the query ranked_snapshots, which asks about one run.
WITH numbered AS (
  SELECT
    m.*, coalesce(n.next_number, m.module_number) AS last_number,
    CASE WHEN n.next_number IS NOT NULL THEN m.module_number END AS first_number
  FROM modules AS m
  LEFT JOIN renumbered_modules(every_run := TRUE) AS n
    ON n.run_id = m.run_id
    AND n.program = m.program
    AND n.rank IS NOT DISTINCT FROM m.rank
    AND n.module_number = m.module_number
    AND n.folder = m.folder
  WHERE m.run_id IN (SELECT unnest(from_json($runs, '["BIGINT"]')))
),
ranked AS (
  SELECT
    m.* REPLACE (max(m.first_number) OVER one AS first_number),
    row_number() OVER (
      PARTITION BY
        m.run_id, m.rank, m.program, m.last_number, m.folder,
        CASE WHEN m.module_number IS NULL THEN m.path END
      ORDER BY
        m.first_number IS NULL DESC,
        m.has_assignment DESC NULLS LAST,
        m.stage = 'after_optimizations' DESC NULLS LAST,
        m.pass_step DESC NULLS LAST,
        m.stage = 'before_optimizations' NULLS LAST,
        m.path, m.part
    ) AS place,
    first_value(
      CASE WHEN m.stage = 'before_optimizations' THEN m.module_id END IGNORE NULLS
    ) OVER one AS source_id
  FROM numbered AS m
  WINDOW one AS (
    PARTITION BY m.run_id, m.rank, m.program, m.last_number, m.folder
    ORDER BY m.path, m.part
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  )
),
sources AS (
  SELECT
    module_id AS source_id, any_value(entry_layout) AS layout,
    any_value(graph_fingerprint) AS graph, any_value(exact_fingerprint) AS exact
  FROM modules
  WHERE stage = 'before_optimizations'
  GROUP BY module_id
)
SELECT
  m.run_id, m.module_id, m.locations_id, m.module_number, m.rank, m.program,
  m.program_key, coalesce(m.platform, r.platform) AS platform, m.num_partitions,
  -- Releases until 2023 print no blanks between parameters.
  regexp_replace(m.entry_layout, '\{[^}]*\}|\s', '', 'g') AS entry_shapes,
  regexp_replace(s.layout, '\{[^}]*\}|\s', '', 'g') AS source_shapes,
  m.graph_fingerprint, m.exact_fingerprint, m.source_id,
  s.graph AS source_graph, s.exact AS source_exact, m.path,
  coalesce(m.has_assignment, FALSE) AS has_assignment, m.first_number,
  m.rank AS own_rank
FROM ranked AS m
JOIN runs AS r USING (run_id)
LEFT JOIN sources AS s USING (source_id)
WHERE m.place = 1
ORDER BY m.run_id, m.rank, m.program, m.module_number, m.path, m.part
