-- title: Programs that ran out of memory
-- question: By how much did a program run out of memory, and what is most of
--   it?
-- definition: Reports of running out of memory in the logs of a run.
--   needed_bytes is what the program needs of the memory space: what the
--   report says is used, else its total, else the request that failed, else
--   the temporaries. over_bytes is needed_bytes minus capacity_bytes. Sizes
--   are printed to a few digits. padding_bytes adds up the buffers that the
--   report lists, which are the largest only. program is the program that has
--   the most of these buffers, by instruction and shape: of the same run,
--   else of any run, such as the dump of the job that wrote the log; NULL
--   where none has any.
-- grain: report of a log
-- leading: program, space_name, needed_bytes, capacity_bytes, over_bytes,
--   path, line, largest
-- param run
-- column run
-- column path VARCHAR name neutral: The log inside the run.
-- column line BIGINT id neutral: Line that the report begins at, from 1.
-- column rank
-- column ordinal INTEGER id neutral: Which report of that file, from 0.
-- column form VARCHAR name neutral: Form of the report, see oom_reports.
-- column space_name
-- column program VARCHAR name neutral: The program that ran out of memory.
-- column program_run VARCHAR name neutral: The run that holds its dump.
-- column needed_bytes BIGINT bytes lower_is_better: What the program needs.
-- column capacity_bytes BIGINT bytes neutral: What the memory space holds.
-- column over_bytes BIGINT bytes lower_is_better: What is too much.
-- column requested_bytes BIGINT bytes neutral: The request that failed.
-- column parameter_bytes BIGINT bytes lower_is_better: Parameters.
-- column live_out_bytes BIGINT bytes lower_is_better: Results.
-- column temp_bytes BIGINT bytes lower_is_better: Temporary allocations.
-- column temp_fragmentation_bytes BIGINT bytes lower_is_better: Temporary
--   bytes that are never needed at once.
-- column buffer_count BIGINT count neutral: Buffers that the report lists.
-- column listed_bytes BIGINT bytes lower_is_better: Their bytes.
-- column padding_bytes BIGINT bytes lower_is_better: Padding among these.
-- column largest_bytes BIGINT bytes lower_is_better: The largest of them.
-- column largest VARCHAR text neutral: Its framework path, else its label.
WITH listed AS (
  SELECT
    r.run AS run_name, b.*,
    regexp_extract(b.label, '^%?([^ ]+) = ', 1) AS instruction,
    regexp_replace(b.shape, '\{[^}]*\}', '', 'g') AS plain_shape
  FROM selected_run() AS r
  JOIN oom_buffers AS b USING (run_id)
),
known AS (
  SELECT
    b.run_id, b.path AS log_path, b.ordinal, m.program AS program_name,
    m.run_id AS other_id, count(*) AS found_count
  FROM listed AS b
  JOIN instructions AS i
    ON i.name = b.instruction
    AND regexp_replace(i.shape, '\{[^}]*\}', '', 'g') = b.plain_shape
  JOIN modules AS m
    ON m.module_id = i.module_id
    AND m.stage = 'after_optimizations'
  GROUP BY b.run_id, b.path, b.ordinal, m.program, m.run_id
),
best AS (
  SELECT
    run_id, log_path, ordinal,
    arg_max(
      {'program': program_name, 'other_id': other_id},
      (other_id = run_id, found_count, other_id, program_name)
    ) AS found
  FROM known
  GROUP BY run_id, log_path, ordinal
),
sums AS (
  SELECT
    run_id, path AS log_path, ordinal, count(*) AS buffer_count,
    CAST(sum(size_bytes) AS BIGINT) AS listed_bytes,
    CAST(sum(size_bytes - unpadded_bytes) AS BIGINT) AS padding_bytes,
    max(size_bytes) AS largest_bytes,
    arg_max(coalesce(op_name, label, shape), (size_bytes, -place)) AS largest
  FROM listed
  GROUP BY run_id, path, ordinal
),
reports AS (
  SELECT
    r.run AS run_name, o.*,
    coalesce(
      o.used_bytes, o.total_bytes, o.program_bytes, o.requested_bytes,
      o.temp_bytes
    ) AS needed_bytes
  FROM selected_run() AS r
  JOIN oom_reports AS o USING (run_id)
)
SELECT
  o.run_name AS run, o.path, o.line, o.rank, o.ordinal, o.form, o.space_name,
  p.found.program AS program, n.name AS program_run, o.needed_bytes,
  o.capacity_bytes,
  o.needed_bytes - o.capacity_bytes AS over_bytes, o.requested_bytes,
  o.parameter_bytes, o.live_out_bytes, o.temp_bytes,
  o.temp_fragmentation_bytes, coalesce(s.buffer_count, 0) AS buffer_count,
  s.listed_bytes, s.padding_bytes, s.largest_bytes, s.largest
FROM reports AS o
LEFT JOIN sums AS s
  ON s.run_id = o.run_id
  AND s.log_path = o.path
  AND s.ordinal = o.ordinal
LEFT JOIN best AS p
  ON p.run_id = o.run_id
  AND p.log_path = o.path
  AND p.ordinal = o.ordinal
LEFT JOIN runs AS n
  ON n.run_id = p.found.other_id
ORDER BY o.path, o.ordinal
