-- title: Memory differences between ranks
-- question: Which programs need different memory on different ranks, or are
--   missing on some?
-- definition: Modules of a run by program and memory space, compared over its
--   ranks; if a rank has several modules of a program, the greatest counts.
--   Programs that share a name, such as lambdas, are compared each with its
--   own kind (program_kinds). A rank that has the program but does not use the
--   memory space counts as 0 bytes. skew_ratio is (max - min) / max of
--   reserved_bytes. outlier_ranks are ranks without the program, or whose
--   bytes are not the most common ones. Runs of one rank give no rows.
-- grain: program (where a name is shared, each program of it), memory space
-- leading: program, space_name, rank_count, missing_count, min_reserved_bytes,
--   max_reserved_bytes, skew_ratio, outlier_ranks
-- param run
-- param program
-- column run
-- column program
-- column color
-- column space_name
-- column rank_count BIGINT count neutral: Ranks with the program.
-- column missing_count BIGINT count lower_is_better: Ranks of the run without
--   it.
-- column min_reserved_bytes BIGINT bytes lower_is_better: Least reserved
--   bytes.
-- column max_reserved_bytes BIGINT bytes lower_is_better: Most reserved bytes.
-- column skew_ratio DOUBLE ratio lower_is_better: Difference as a share of the
--   most.
-- column outlier_ranks VARCHAR text neutral: Ranks that differ, separated by
--   commas.
-- column module_number INTEGER id neutral: Least of the modules' numbers.
WITH asked AS MATERIALIZED (
  -- Arguments are read inside of macros, where no column may have their names.
  SELECT r.run_id FROM selected_run() AS r
),
ranks AS (
  SELECT DISTINCT m.rank
  FROM modules AS m
  JOIN asked AS c USING (run_id)
  WHERE m.rank IS NOT NULL
),
points AS MATERIALIZED (
  SELECT
    m.run AS run_name, m.program AS program_name, k.kind, m.platform,
    m.color AS space_color, m.space_name, m.rank,
    max(m.reserved_bytes) AS reserved_bytes,
    min(m.module_number) AS module_number
  FROM module_memory AS m
  JOIN asked AS c USING (run_id)
  JOIN program_kinds(
    run_ids := (SELECT list(a.run_id) FROM asked AS a)
  ) AS k USING (run_id, path, part)
  WHERE m.rank IS NOT NULL
    AND ($program IS NULL OR m.program = $program)
  GROUP BY ALL
),
holders AS (
  SELECT DISTINCT program_name, kind, platform, rank FROM points
),
grid AS (
  SELECT
    k.run_name, k.program_name, k.space_color, k.space_name, k.subject, r.rank,
    k.module_number,
    CASE WHEN h.rank IS NOT NULL THEN coalesce(p.reserved_bytes, 0) END
      AS reserved_bytes
  FROM (
    -- A number for each: the platform may be unknown.
    SELECT
      run_name, program_name, kind, platform, space_color, space_name,
      min(module_number) AS module_number,
      row_number() OVER (
        ORDER BY program_name, platform, space_color, min(module_number), kind
      ) AS subject
    FROM points
    GROUP BY run_name, program_name, kind, platform, space_color, space_name
  ) AS k
  CROSS JOIN ranks AS r
  LEFT JOIN holders AS h
    ON h.program_name = k.program_name
    AND h.kind = k.kind
    AND h.platform IS NOT DISTINCT FROM k.platform
    AND h.rank = r.rank
  LEFT JOIN points AS p
    ON p.program_name = k.program_name
    AND p.kind = k.kind
    AND p.platform IS NOT DISTINCT FROM k.platform
    AND p.space_color = k.space_color
    AND p.rank = r.rank
),
common AS (
  SELECT subject, reserved_bytes AS common_bytes
  FROM grid
  WHERE reserved_bytes IS NOT NULL
  GROUP BY subject, reserved_bytes
  QUALIFY row_number() OVER (
    PARTITION BY subject ORDER BY count(*) DESC, reserved_bytes
  ) = 1
)
SELECT
  g.run_name AS run, g.program_name AS program, g.space_color AS color,
  g.space_name,
  count(g.reserved_bytes) AS rank_count,
  count(*) - count(g.reserved_bytes) AS missing_count,
  min(g.reserved_bytes) AS min_reserved_bytes,
  max(g.reserved_bytes) AS max_reserved_bytes,
  (max(g.reserved_bytes) - min(g.reserved_bytes))
    / nullif(max(g.reserved_bytes), 0)
    AS skew_ratio,
  string_agg(CAST(g.rank AS VARCHAR), ', ' ORDER BY g.rank) FILTER (
    WHERE g.reserved_bytes IS DISTINCT FROM c.common_bytes
  ) AS outlier_ranks,
  min(g.module_number) AS module_number
FROM grid AS g
JOIN common AS c USING (subject)
GROUP BY
  g.run_name, g.program_name, g.space_color, g.space_name, g.subject
HAVING count(*) > 1
ORDER BY skew_ratio DESC, missing_count DESC, g.subject
