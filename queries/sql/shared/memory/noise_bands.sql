-- title: Memory differences between duplicate compilations
-- question: By how many bytes does memory differ between compilations of the
--   same source?
-- definition: Modules with a buffer assignment that were compiled from one
--   source (the same before_optimizations) on one rank and host of one run,
--   where compiler and flags are certainly the same. width_bytes is the
--   greatest minus the least of their reserved_bytes; a memory space that one
--   of them does not use counts as 0. Compilations on other ranks or hosts are
--   not duplicates, so that a single odd rank is noticed. Without duplicates
--   there is no row.
-- grain: run, program, rank, source, memory space
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs; NULL for all.
-- column run_id
-- column program
-- column rank
-- column source_exact BIGINT id neutral: exact_fingerprint of the source.
-- column color
-- column width_bytes BIGINT bytes lower_is_better: Greatest minus least
--   reserved bytes.
WITH wanted AS MATERIALIZED (
  SELECT
    unnest(list_distinct(coalesce(
      $run_ids, (SELECT list(r.run_id) FROM runs AS r)
    ))) AS run_id
),
sources AS (
  SELECT
    m.run_id, m.program AS program_name, m.rank, m.folder,
    coalesce(n.next_number, m.module_number) AS module_number,
    m.exact_fingerprint,
    -- A folder of one module is no host.
    CASE
      WHEN NOT regexp_matches(m.folder, '(^|/)module_[^/]*/$') THEN m.folder
    END AS host
  FROM wanted AS w
  JOIN modules AS m USING (run_id)
  LEFT JOIN renumbered_modules(
    run_ids := (SELECT coalesce(list(w.run_id), []) FROM wanted AS w)
  ) AS n
    ON n.run_id = m.run_id
    AND n.program = m.program
    AND n.rank IS NOT DISTINCT FROM m.rank
    AND n.module_number = m.module_number
    AND n.folder = m.folder
  WHERE m.stage = 'before_optimizations'
    AND m.exact_fingerprint IS NOT NULL
),
duplicates AS MATERIALIZED (
  SELECT s.*
  FROM sources AS s
  QUALIFY count(*) OVER (
    PARTITION BY
      s.run_id, s.program_name, s.rank, s.exact_fingerprint,
      regexp_extract(s.host, '([^/]*)/$', 1)
  ) > 1
),
compiled AS MATERIALIZED (
  SELECT
    d.run_id, d.program_name, d.rank, d.exact_fingerprint,
    regexp_extract(d.host, '([^/]*)/$', 1) AS host, m.module_id, m.path, m.part
  FROM duplicates AS d
  JOIN modules AS m
    ON m.run_id = d.run_id
    AND m.program = d.program_name
    AND m.rank IS NOT DISTINCT FROM d.rank
    AND m.module_number IS NOT DISTINCT FROM d.module_number
    AND m.folder = d.folder
  WHERE m.has_assignment
),
counted AS (
  SELECT
    c.run_id, c.program_name, c.rank, c.exact_fingerprint, c.host,
    count(*) AS module_count
  FROM compiled AS c
  GROUP BY ALL
),
spreads AS (
  SELECT
    c.run_id, c.program_name, c.rank, c.exact_fingerprint, c.host,
    p.color AS space_color, max(p.reserved_bytes) AS most,
    CASE WHEN count(*) = any_value(n.module_count)
      THEN min(p.reserved_bytes) ELSE 0 END AS least
  FROM compiled AS c
  JOIN counted AS n
    ON n.run_id = c.run_id
    AND n.program_name = c.program_name
    AND n.rank IS NOT DISTINCT FROM c.rank
    AND n.exact_fingerprint = c.exact_fingerprint
    AND n.host IS NOT DISTINCT FROM c.host
    AND n.module_count > 1
  JOIN memory_profile AS p ON p.module_id = c.module_id
  GROUP BY
    c.run_id, c.program_name, c.rank, c.exact_fingerprint, c.host, p.color
)
SELECT
  s.run_id, s.program_name AS program, s.rank,
  s.exact_fingerprint AS source_exact, s.space_color AS color,
  max(s.most - s.least) AS width_bytes
FROM spreads AS s
GROUP BY
  s.run_id, s.program_name, s.rank, s.exact_fingerprint, s.space_color
