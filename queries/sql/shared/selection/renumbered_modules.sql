-- title: Modules that continue under another number
-- question: Which modules continue under another number?
-- definition: TPU compilers renumber some programs during compilation, such as
--   those with random or complex numbers. If a number of a program has
--   before_optimizations and nothing of after_optimizations, it continues as
--   the next number of that program with the same program_key, run, folder and
--   rank that has after_optimizations and no before_optimizations. Partitioned
--   programs have other entry shapes afterwards: of those the number of
--   partitions, and element types and ranks of the entry shapes are the same.
-- grain: run, folder, rank, program, module number before
-- param run
-- param every_run BOOLEAN = false: Use all runs, whatever run says.
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs to use instead of
--   run.
-- column run_id
-- column program
-- column rank
-- column folder VARCHAR name neutral: Folder of its files, with a slash.
-- column module_number INTEGER id neutral: Its number before optimisations.
-- column next_number INTEGER id neutral: Number after that.
WITH wanted AS (
  SELECT c.run_id
  FROM selected_run(run := $run) AS c
  WHERE NOT $every_run
    AND $run_ids IS NULL
  UNION ALL
  SELECT r.run_id
  FROM runs AS r
  WHERE $every_run
    AND $run_ids IS NULL
  UNION ALL
  SELECT u.run_id
  FROM (SELECT DISTINCT unnest($run_ids) AS run_id) AS u
),
numbers AS (
  SELECT
    m.run_id, m.program AS program_name, m.rank, m.folder, m.module_number,
    bool_or(m.stage = 'before_optimizations') AS has_source,
    coalesce(
      bool_or(m.has_assignment OR starts_with(m.stage, 'after_optimizations')),
      FALSE
    ) AS has_result,
    max(m.module_id) FILTER (WHERE m.stage = 'before_optimizations')
      AS source_id,
    max(m.module_id) FILTER (
      WHERE m.has_assignment
        OR starts_with(m.stage, 'after_optimizations')
    ) AS result_id
  FROM wanted AS w
  JOIN modules AS m USING (run_id)
  WHERE m.module_number IS NOT NULL
  GROUP BY m.run_id, m.program, m.rank, m.folder, m.module_number
),
-- Only of what has one half: entry shapes may be long.
shapes AS (
  SELECT
    s.module_id,
    CASE
      WHEN s.num_partitions > 1 THEN hash(
        s.num_partitions,
        regexp_replace(
          regexp_replace(s.entry_layout, '\{[^{}]*\}', '', 'g'),
          '([\[,])[<=\d]+', '\1', 'g'
        )
      )
      ELSE hash(s.program_key)
    END AS shapes_key
  FROM (
    SELECT DISTINCT coalesce(source_id, result_id) AS module_id
    FROM numbers
    WHERE has_source <> has_result
  )
  JOIN store.snapshots AS s USING (module_id)
  GROUP BY ALL
),
halves AS (
  SELECT
    n.run_id, n.program_name, n.rank, n.folder, n.module_number, n.has_source,
    lead(n.has_result) OVER numbered AS is_followed,
    lead(n.module_number) OVER numbered AS next_number
  FROM numbers AS n
  JOIN shapes AS s ON s.module_id = coalesce(n.source_id, n.result_id)
  WHERE n.has_source <> n.has_result
  WINDOW numbered AS (
    PARTITION BY n.run_id, n.program_name, n.rank, n.folder, s.shapes_key
    ORDER BY n.module_number
  )
)
SELECT
  h.run_id, h.program_name AS program, h.rank, h.folder, h.module_number,
  h.next_number
FROM halves AS h
WHERE h.has_source
  AND h.is_followed
