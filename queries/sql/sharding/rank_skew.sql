-- title: Differences between ranks
-- question: Do ranks or partitions need different memory, and is a program
--   missing on some?
-- definition: Modules of a run by program and colour over its ranks; of
--   several modules of a program on one rank the greatest. skew_ratio is (max
--   - min) / max of reserved_bytes. odd_ranks are those without the program,
--   or whose bytes are not the most common ones. Runs of one rank give no
--   rows.
-- grain: program, colour
-- needs: chosen_run, module_memory, modules
-- param run
-- param program
-- column run
-- column program
-- column color
-- column space_name
-- column rank_count BIGINT count neutral: Ranks that hold the program.
-- column missing_count BIGINT count lower_is_better: Ranks of the run that
--   don't.
-- column min_reserved_bytes BIGINT bytes lower_is_better: Least reserved
--   bytes.
-- column max_reserved_bytes BIGINT bytes lower_is_better: Most reserved bytes.
-- column skew_ratio DOUBLE ratio lower_is_better: Their difference as a share.
-- column odd_ranks VARCHAR text neutral: Ranks that differ, with commas.
WITH ranks AS (
  SELECT DISTINCT m.rank
  FROM modules AS m
  JOIN chosen_run(run := $run) AS c USING (run_id)
  WHERE m.rank IS NOT NULL
),
points AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.color AS space_color,
    m.space_name,
    m.rank, max(m.reserved_bytes) AS reserved_bytes
  FROM module_memory AS m
  JOIN chosen_run(run := $run) AS c USING (run_id)
  WHERE m.rank IS NOT NULL
    AND ($program IS NULL OR m.program = $program)
  GROUP BY ALL
),
common AS (
  SELECT
    program_name, space_color, space_name, reserved_bytes AS common_bytes
  FROM (
    SELECT
      program_name, space_color, space_name, reserved_bytes,
      row_number() OVER (
        PARTITION BY program_name, space_color, space_name
        ORDER BY count(*) DESC, reserved_bytes
      ) AS place
    FROM points
    GROUP BY program_name, space_color, space_name, reserved_bytes
  ) AS counted
  WHERE place = 1
),
grid AS (
  SELECT
    k.run_name, k.program_name, k.space_color, k.space_name, r.rank,
    p.reserved_bytes
  FROM (
    SELECT DISTINCT run_name, program_name, space_color, space_name FROM points
  ) AS k
  CROSS JOIN ranks AS r
  LEFT JOIN points AS p
    ON p.program_name = k.program_name
    AND p.space_color = k.space_color
    AND p.space_name = k.space_name
    AND p.rank = r.rank
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
  ) AS odd_ranks
FROM grid AS g
JOIN common AS c USING (program_name, space_color, space_name)
GROUP BY g.run_name, g.program_name, g.space_color, g.space_name
HAVING count(*) > 1
ORDER BY skew_ratio DESC, missing_count DESC, g.program_name, g.space_color
