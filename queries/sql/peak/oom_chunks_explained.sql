-- title: What filled an allocator that ran out of memory
-- question: Which chunks did an allocator hold when a request failed, and
--   which allocation of which program is each?
-- definition: The chunks that an allocator lists, those alike together, the
--   largest first. Since XLA of 2026-06 they name the program that allocated
--   them and its allocation; these are joined to a dump of the program, of the
--   same run, else of any run. Of several dumps the one counts whose
--   allocation has the nearest size.
-- grain: report of a log, kind of chunk
-- leading: program, kind, allocation_id, chunk_bytes, chunk_count, is_free,
--   largest_value
-- param run
-- param top BIGINT = NULL from 0: At most this many rows per report; NULL for
--   all.
-- column run
-- column path VARCHAR name neutral: The log inside the run.
-- column ordinal INTEGER id neutral: Which report of that file, from 0.
-- column place BIGINT id neutral: Place by bytes, from 1.
-- column chunk_bytes BIGINT bytes lower_is_better: Bytes of all of them.
-- column chunk_count BIGINT count neutral: How many there are.
-- column size_bytes BIGINT bytes lower_is_better: Bytes of each.
-- column is_free BOOLEAN flag neutral: Whether they are free.
-- column program VARCHAR name neutral: The program that allocated them.
-- column program_run VARCHAR name neutral: The run that holds its dump.
-- column kind VARCHAR name neutral: What for, such as temp or live_out.
-- column allocation_id INTEGER id neutral: XLA's number of the allocation.
-- column allocation_bytes BIGINT bytes neutral: Its size in the dump.
-- column largest_value VARCHAR name neutral: Instruction of the largest value
--   in it.
WITH listed AS (
  SELECT
    r.run AS run_name, c.*, c.size_bytes * c.chunk_count AS all_bytes,
    row_number() OVER (
      PARTITION BY c.path, c.ordinal
      ORDER BY c.size_bytes * c.chunk_count DESC, c.place
    ) AS size_place
  FROM selected_run() AS r
  JOIN oom_chunks AS c USING (run_id)
),
dumped AS (
  SELECT
    c.path AS log_path, c.ordinal, c.place,
    arg_max(
      {
        'other_id': m.run_id, 'module_id': a.module_id,
        'size_bytes': a.size_bytes
      },
      (m.run_id = c.run_id, -abs(a.size_bytes - c.size_bytes), m.run_id)
    ) AS found
  FROM listed AS c
  JOIN modules AS m
    ON c.program_name IN (m.program, m.name)
    AND m.has_assignment
  JOIN allocations AS a
    ON a.module_id = m.module_id
    AND a.allocation_id = c.allocation_id
  GROUP BY c.path, c.ordinal, c.place
),
largest AS (
  SELECT
    d.log_path, d.ordinal, d.place,
    arg_max(v.instruction, (w.size_bytes, -v.value_id)) AS instruction
  FROM dumped AS d
  JOIN listed AS c
    ON c.path = d.log_path
    AND c.ordinal = d.ordinal
    AND c.place = d.place
  JOIN allocation_values AS w
    ON w.module_id = d.found.module_id
    AND w.allocation_id = c.allocation_id
  JOIN "values" AS v
    ON v.module_id = w.module_id
    AND v.value_id = w.value_id
  GROUP BY d.log_path, d.ordinal, d.place
)
SELECT
  c.run_name AS run, c.path, c.ordinal, c.size_place AS place,
  c.all_bytes AS chunk_bytes, c.chunk_count, c.size_bytes, c.is_free,
  c.program_name AS program, n.name AS program_run, c.kind, c.allocation_id,
  d.found.size_bytes AS allocation_bytes, l.instruction AS largest_value
FROM listed AS c
LEFT JOIN dumped AS d
  ON d.log_path = c.path
  AND d.ordinal = c.ordinal
  AND d.place = c.place
LEFT JOIN largest AS l
  ON l.log_path = c.path
  AND l.ordinal = c.ordinal
  AND l.place = c.place
LEFT JOIN runs AS n
  ON n.run_id = d.found.other_id
WHERE $top IS NULL
  OR c.size_place <= $top
ORDER BY c.path, c.ordinal, c.size_place
