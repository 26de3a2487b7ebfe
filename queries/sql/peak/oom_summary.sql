-- title: Programs that ran out of memory
-- question: By how much did a program run out of memory, and what is most of
--   it?
-- definition: Reports of running out of memory in the logs of a run.
--   needed_bytes is what the program needs of the memory space: what the
--   report says is used, else its total, else the request that failed, else
--   the temporaries or arguments. over_bytes is what the report says is too
--   much, else needed_bytes minus capacity_bytes. Sizes are printed to a few
--   digits. padding_bytes adds up the buffers that the report lists, which are
--   the largest only. program is the one that the message names; else the
--   program that has the most of the listed buffers, by instruction and shape;
--   else the one whose temporary allocation has exactly the size of the
--   request that failed. It is looked up in the same run, else in any run,
--   such as the dump of the job that wrote the log. free_bytes are those that
--   an allocator says are free, else its free chunks, else its limit less what
--   is in use. cause compares the request with them: too_large (larger than
--   all memory), fragmentation (enough is free, in pieces that are too small),
--   pool (the device has enough, the allocator may not use it), shortage.
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
-- column has_failed BOOLEAN flag neutral: Whether it says that memory did not
--   suffice; warnings, other failures and lines that are not understood do
--   not.
-- column space_name
-- column program VARCHAR name neutral: The program that ran out of memory.
-- column program_run VARCHAR name neutral: The run that holds its dump.
-- column program_by VARCHAR name neutral: How it was found: message, buffers
--   or temporaries.
-- column operation VARCHAR text neutral: What the memory was for, where the
--   message says it.
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
-- column cause VARCHAR name neutral: Why the request failed, where the state
--   of memory is printed.
-- column free_bytes BIGINT bytes neutral: Free memory.
-- column largest_free_bytes BIGINT bytes neutral: Free memory in one piece.
-- column in_use_bytes BIGINT bytes neutral: Memory in use.
-- column limit_bytes BIGINT bytes neutral: What the allocator may use.
-- column device_free_bytes BIGINT bytes neutral: Free memory of the device.
-- column device_bytes BIGINT bytes neutral: Memory of the device.
-- column allocator VARCHAR name neutral: Name of the allocator.
-- column error_code VARCHAR name neutral: XLA's number of the error.
-- column message VARCHAR text neutral: The line, where it is not understood.
-- column repeat_count BIGINT count neutral: How often a like line follows.
WITH reports AS (
  SELECT r.run AS run_name, o.*
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
chunks AS (
  SELECT
    c.run_id, c.path AS log_path, c.ordinal,
    CAST(
      sum(c.size_bytes * c.chunk_count) FILTER (c.is_free) AS BIGINT
    ) AS free_bytes
  FROM selected_run() AS r
  JOIN oom_chunks AS c USING (run_id)
  GROUP BY c.run_id, c.path, c.ordinal
),
states AS (
  SELECT
    o.* EXCLUDE (free_bytes),
    coalesce(
      o.used_bytes, o.total_bytes, o.program_bytes, o.requested_bytes,
      o.temp_bytes, o.parameter_bytes
    ) AS needed_bytes,
    coalesce(
      o.free_bytes, c.free_bytes,
      CASE
        WHEN o.limit_bytes >= o.in_use_bytes
          THEN o.limit_bytes - o.in_use_bytes
      END, o.device_free_bytes
    ) AS free_bytes,
    coalesce(o.reservable_bytes, o.largest_free_bytes) AS piece_bytes
  FROM reports AS o
  LEFT JOIN chunks AS c
    ON c.run_id = o.run_id
    AND c.log_path = o.path
    AND c.ordinal = o.ordinal
),
judged AS (
  SELECT
    o.*,
    coalesce(o.excess_bytes, o.needed_bytes - o.capacity_bytes) AS over_bytes
  FROM states AS o
)
SELECT
  o.run_name AS run, o.path, o.line, o.rank, o.ordinal, o.form,
  CASE o.form
    WHEN 'program_usage' THEN coalesce(o.over_bytes > 0, false)
    ELSE o.form
      IN ('allocation', 'buffer_assignment', 'program_memory', 'killed')
  END AS has_failed, o.space_name,
  coalesce(p.found.program, o.program_name) AS program, n.name AS program_run,
  CASE
    WHEN p.found IS NULL AND o.program_name IS NULL THEN NULL
    WHEN p.found IS NULL OR p.found.standing = 3 THEN 'message'
    WHEN p.found.standing = 2 THEN 'buffers'
    ELSE 'temporaries'
  END AS program_by, o.operation, o.needed_bytes, o.capacity_bytes,
  o.over_bytes, o.requested_bytes, o.parameter_bytes, o.live_out_bytes,
  o.temp_bytes, o.temp_fragmentation_bytes,
  coalesce(s.buffer_count, 0) AS buffer_count, s.listed_bytes,
  s.padding_bytes, s.largest_bytes, s.largest,
  CASE
    WHEN o.requested_bytes IS NULL OR o.form = 'program_memory' THEN NULL
    WHEN o.requested_bytes > coalesce(o.limit_bytes, o.device_bytes)
      THEN 'too_large'
    WHEN o.requested_bytes <= o.free_bytes
      AND o.requested_bytes > o.piece_bytes THEN 'fragmentation'
    WHEN o.requested_bytes > o.free_bytes
      AND o.requested_bytes <= o.device_free_bytes THEN 'pool'
    WHEN o.requested_bytes > o.free_bytes THEN 'shortage'
  END AS cause, o.free_bytes, o.piece_bytes AS largest_free_bytes,
  o.in_use_bytes, o.limit_bytes, o.device_free_bytes, o.device_bytes,
  o.allocator_name AS allocator, o.error_code, o.message, o.repeat_count
FROM judged AS o
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
