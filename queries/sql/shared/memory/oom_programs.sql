-- title: Programs of reports of running out of memory
-- question: Which program does a report of running out of memory mean?
-- definition: The program that the message names; else the program that has
--   the most of the listed buffers, by instruction and shape; else the one
--   whose temporary allocation has exactly the size of the request that
--   failed. It is looked up in the same run, else in any run.
-- grain: report of a log
-- param run
-- column run_id
-- column path VARCHAR name neutral: The log inside the run.
-- column ordinal INTEGER id neutral: Which report of that file, from 0.
-- column program
-- column program_run_id BIGINT id neutral: The run that holds its dump.
-- column found_by VARCHAR name neutral: message, buffers or temporaries.
WITH reports AS (
  SELECT o.*
  FROM selected_run() AS r
  JOIN oom_reports AS o USING (run_id)
),
listed AS (
  SELECT
    b.*,
    coalesce(
      b.instruction, nullif(regexp_extract(b.label, '^%?([^ ]+) = ', 1), '')
    ) AS named_instruction,
    regexp_replace(b.shape, '\{[^}]*\}', '', 'g') AS plain_shape
  FROM selected_run() AS r
  JOIN oom_buffers AS b USING (run_id)
),
named AS (
  SELECT DISTINCT
    o.run_id, o.path AS log_path, o.ordinal, m.program AS program_name,
    m.run_id AS other_id, 3 AS standing, 1 AS found_count
  FROM reports AS o
  JOIN modules AS m
    ON o.program_name IN (m.program, m.name)
),
labelled AS (
  SELECT
    b.run_id, b.path AS log_path, b.ordinal, m.program AS program_name,
    m.run_id AS other_id, 2 AS standing, count(*) AS found_count
  FROM listed AS b
  JOIN instructions AS i
    ON i.name = b.named_instruction
    AND regexp_replace(i.shape, '\{[^}]*\}', '', 'g') = b.plain_shape
  JOIN modules AS m
    ON m.module_id = i.module_id
    AND m.stage = 'after_optimizations'
  GROUP BY b.run_id, b.path, b.ordinal, m.program, m.run_id
),
arenas AS (
  SELECT
    o.run_id, o.path AS log_path, o.ordinal, m.program AS program_name,
    m.run_id AS other_id, 1 AS standing, 1 AS found_count
  FROM reports AS o
  JOIN allocations AS a
    ON a.size_bytes = o.requested_bytes
    AND a.kind = 'temp'
  JOIN modules AS m
    ON m.module_id = a.module_id
    AND m.stage = 'after_optimizations'
  WHERE o.form = 'allocation'
    AND o.program_name IS NULL
),
-- Other programs may have a temporary allocation of the same size.
alone AS (
  FROM arenas AS a
  QUALIFY min(a.program_name) OVER (
      PARTITION BY a.run_id, a.log_path, a.ordinal, a.other_id = a.run_id
    ) = max(a.program_name) OVER (
      PARTITION BY a.run_id, a.log_path, a.ordinal, a.other_id = a.run_id
    )
),
known AS (
  FROM named
  UNION ALL BY NAME FROM labelled
  UNION ALL BY NAME FROM alone
),
best AS (
  SELECT
    k.run_id, k.log_path, k.ordinal,
    arg_max(
      {
        'program': k.program_name, 'other_id': k.other_id,
        'standing': k.standing
      },
      (
        k.standing = 3, k.other_id = k.run_id, k.standing, k.found_count,
        k.other_id, k.program_name
      )
    ) AS found
  FROM known AS k
  GROUP BY k.run_id, k.log_path, k.ordinal
)
SELECT
  b.run_id, b.log_path AS path, b.ordinal, b.found.program AS program,
  b.found.other_id AS program_run_id,
  CASE b.found.standing WHEN 3 THEN 'message' WHEN 2 THEN 'buffers'
    ELSE 'temporaries' END AS found_by
FROM best AS b
