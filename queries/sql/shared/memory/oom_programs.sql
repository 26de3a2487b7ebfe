-- title: Programs of reports of running out of memory
-- question: Which program does a report of running out of memory mean?
-- definition: The program that the message names; else the program that has
--   the most of the listed buffers, by instruction and shape; else, where the
--   list names no instruction, the program that all its framework paths begin
--   with, such as jit(step) for jit_step; else the one whose temporary
--   allocation has exactly the size of the request that failed. It is looked
--   up in the same run, else in any run. Else the only program of the same run
--   with a temporary allocation that rounds to the size of the request, or to
--   the temporaries of the report, as printed.
-- grain: report of a log
-- param run
-- column run_id
-- column path VARCHAR name neutral: The log inside the run.
-- column ordinal INTEGER id neutral: Which report of that file, from 0.
-- column program
-- column program_run_id BIGINT id neutral: The run that holds its dump.
-- column found_by VARCHAR name neutral: message, buffers, paths, temporaries
--   or rounded_temporaries.
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
    m.run_id AS other_id, 5 AS standing, 1 AS found_count
  FROM reports AS o
  JOIN modules AS m
    ON o.program_name IN (m.program, m.name)
),
labelled AS (
  SELECT
    b.run_id, b.path AS log_path, b.ordinal, m.program AS program_name,
    m.run_id AS other_id, 4 AS standing, count(*) AS found_count
  FROM listed AS b
  JOIN instructions AS i
    ON i.name = b.named_instruction
    AND regexp_replace(i.shape, '\{[^}]*\}', '', 'g') = b.plain_shape
  JOIN modules AS m
    ON m.module_id = i.module_id
    AND m.stage = 'after_optimizations'
  GROUP BY b.run_id, b.path, b.ordinal, m.program, m.run_id
),
-- JAX calls a program after its function, without signs: jit(<lambda>) is
-- jit__lambda_, of which releases keep the last sign or not.
rooted AS (
  SELECT
    b.run_id, b.path AS log_path, b.ordinal,
    min(b.root_name) AS root_name
  FROM (
    SELECT
      l.*,
      trim(
        regexp_replace(
          nullif(
            regexp_extract(l.op_name, '^((jit|pjit|pmap)\([^()]+)\)', 1), ''
          ), '[^A-Za-z0-9]+', '_', 'g'
        ), '_'
      ) AS root_name
    FROM listed AS l
  ) AS b
  GROUP BY b.run_id, b.path, b.ordinal
  HAVING count(b.named_instruction) = 0
    AND count(DISTINCT b.root_name) = 1
),
pathed AS (
  SELECT DISTINCT
    b.run_id, b.log_path, b.ordinal, m.program AS program_name,
    m.run_id AS other_id, 3 AS standing, 1 AS found_count
  FROM rooted AS b
  JOIN modules AS m
    ON trim(regexp_replace(m.program, '[^A-Za-z0-9]+', '_', 'g'), '_')
      = b.root_name
),
asked AS (
  SELECT
    o.*,
    CASE o.form WHEN 'allocation' THEN o.requested_bytes
      ELSE o.temp_bytes END AS printed_bytes
  FROM reports AS o
  WHERE o.form IN ('allocation', 'buffer_assignment')
    AND o.program_name IS NULL
),
-- Two decimals are printed. A request of whole quarters of a unit may be in
-- bytes, which do not round; temporaries of a report are never in bytes.
printed AS (
  SELECT a.*, power(1024, floor(log2(a.printed_bytes) / 10)) AS unit_bytes
  FROM asked AS a
  WHERE a.printed_bytes >= 1024
),
arenas AS (
  SELECT
    o.run_id, o.path AS log_path, o.ordinal, m.program AS program_name,
    m.run_id AS other_id, 2 AS standing, 1 AS found_count
  FROM asked AS o
  JOIN allocations AS a
    ON a.size_bytes = o.requested_bytes
    AND a.kind = 'temp'
  JOIN modules AS m
    ON m.module_id = a.module_id
    AND m.stage = 'after_optimizations'
  UNION ALL
  SELECT
    o.run_id, o.path AS log_path, o.ordinal, m.program AS program_name,
    m.run_id AS other_id, 1 AS standing, 1 AS found_count
  FROM printed AS o
  JOIN modules AS m
    ON m.run_id = o.run_id
    AND m.stage = 'after_optimizations'
  JOIN allocations AS a
    ON a.module_id = m.module_id
    AND a.kind = 'temp'
    AND abs(a.size_bytes - o.printed_bytes) <= o.unit_bytes / 200
  WHERE o.form = 'buffer_assignment'
    OR (
      round(100 * o.printed_bytes / o.unit_bytes) % 25 <> 0
      AND abs(
        round(100 * o.printed_bytes / o.unit_bytes) * o.unit_bytes / 100
          - o.printed_bytes
      ) < 1
    )
),
-- Other programs may have a temporary allocation of the same size.
alone AS (
  FROM arenas AS a
  QUALIFY min(a.program_name) OVER (
      PARTITION BY a.run_id, a.log_path, a.ordinal, a.other_id = a.run_id,
        a.standing
    ) = max(a.program_name) OVER (
      PARTITION BY a.run_id, a.log_path, a.ordinal, a.other_id = a.run_id,
        a.standing
    )
),
known AS (
  FROM named
  UNION ALL BY NAME FROM labelled
  UNION ALL BY NAME FROM pathed
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
        k.standing = 5, k.other_id = k.run_id, k.standing, k.found_count,
        k.other_id, k.program_name
      )
    ) AS found
  FROM known AS k
  GROUP BY k.run_id, k.log_path, k.ordinal
)
SELECT
  b.run_id, b.log_path AS path, b.ordinal, b.found.program AS program,
  b.found.other_id AS program_run_id,
  CASE b.found.standing WHEN 5 THEN 'message' WHEN 4 THEN 'buffers'
    WHEN 3 THEN 'paths' WHEN 2 THEN 'temporaries'
    ELSE 'rounded_temporaries' END AS found_by
FROM best AS b
