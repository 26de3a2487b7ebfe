-- The last snapshot of every compiled module of the runs $runs, with what it was
-- compiled from: the before_optimizations snapshot of the same run, folder, rank,
-- program and number, or of the number before where TPU compilers gave a new one
-- (see final_modules).
WITH ranked AS (
  SELECT
    m.*,
    row_number() OVER (
      PARTITION BY
        m.run_id, m.rank, m.program, m.module_number, m.folder,
        CASE WHEN m.module_number IS NULL THEN m.path END
      ORDER BY
        m.has_assignment DESC NULLS LAST,
        m.stage = 'after_optimizations' DESC NULLS LAST,
        m.pass_step DESC NULLS LAST,
        m.stage = 'before_optimizations' NULLS LAST,
        m.path, m.part
    ) AS place,
    first_value(
      CASE WHEN m.stage = 'before_optimizations' THEN m.module_id END IGNORE NULLS
    ) OVER (
      PARTITION BY m.run_id, m.rank, m.program, m.module_number, m.folder
      ORDER BY m.path, m.part
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS own_source_id,
    coalesce(
      bool_or(m.has_assignment OR starts_with(m.stage, 'after_optimizations')) OVER (
        PARTITION BY m.run_id, m.rank, m.program, m.module_number, m.folder
      ), FALSE
    ) AS has_result
  FROM modules AS m
  WHERE m.run_id IN (SELECT unnest(from_json($runs, '["BIGINT"]')))
),
halves AS (
  SELECT
    *,
    own_source_id IS NOT NULL AND NOT has_result AS is_source,
    own_source_id IS NULL AND has_result AS is_result
  FROM ranked
  WHERE place = 1
),
joined AS (
  SELECT
    *,
    is_source AND module_number IS NOT NULL AND lead(is_result) OVER numbers
      AS is_renumbered,
    coalesce(
      own_source_id,
      CASE WHEN is_result AND module_number IS NOT NULL AND lag(is_source) OVER numbers
        THEN lag(own_source_id) OVER numbers END
    ) AS source_id
  FROM halves
  WINDOW numbers AS (
    PARTITION BY run_id, rank, program, folder, program_key
    ORDER BY NOT (is_source OR is_result), module_number
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
  coalesce(m.has_assignment, FALSE) AS has_assignment
FROM joined AS m
JOIN runs AS r USING (run_id)
LEFT JOIN sources AS s USING (source_id)
WHERE NOT coalesce(m.is_renumbered, FALSE)
ORDER BY m.run_id, m.rank, m.program, m.module_number, m.path, m.part
