-- step: Snapshots of both sides in the order of the compilation, from
--   before_optimizations through the passes to after_optimizations.
-- grain: pair, side, snapshot
WITH numbered_sides AS (
  SELECT s.*, s.module_number AS number, FALSE AS is_first_number
  FROM compilation_sides AS s
  UNION ALL
  SELECT s.*, s.first_number, TRUE
  FROM compilation_sides AS s
  WHERE s.first_number IS NOT NULL
)
SELECT
  s.pair, s.is_candidate, m.stage AS stage_name, m.pass_after,
  m.graph_fingerprint, m.exact_fingerprint, m.instruction_count,
  CASE
    WHEN m.stage = 'pass'
      THEN concat(
        coalesce(m.pipeline, 'pipeline'), ': after ',
        coalesce(m.pass_after, 'start')
      )
    ELSE m.stage
  END AS label,
  row_number() OVER (
    PARTITION BY s.pair, s.is_candidate
    ORDER BY
      m.stage = 'before_optimizations' DESC, m.stage = 'after_optimizations',
      s.is_first_number DESC, m.pass_step, m.path, m.part
  ) AS place
FROM numbered_sides AS s
JOIN modules AS m
  ON m.run_id = s.run_id
  AND m.program = s.program
  AND m.rank IS NOT DISTINCT FROM s.own_rank
  AND m.module_number IS NOT DISTINCT FROM s.number
  AND m.folder = s.folder
WHERE m.stage IN ('before_optimizations', 'pass', 'after_optimizations')
  AND m.graph_fingerprint IS NOT NULL
