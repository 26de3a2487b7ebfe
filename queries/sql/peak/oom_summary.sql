-- title: Programs that ran out of memory
-- question: By how much did a program run out of memory, and what is most of
--   it?
-- definition: Reports of running out of memory in the logs of a run.
--   needed_bytes is what the program needs of the memory space: what the
--   report says is used, else its total, else the request that failed, else
--   the temporaries or arguments. over_bytes is what the report says is too
--   much, else needed_bytes minus capacity_bytes. Sizes are printed to a few
--   digits. padding_bytes adds up the buffers that the report lists, which are
--   the largest only. program is the one that the message names; else it is
--   found in the same run, else in any run, such as the dump of the job that
--   wrote the log, by what program_by says: buffers (it has the most of the
--   listed ones, by instruction and shape), paths (those of the buffers begin
--   with its name), temporaries (one of its allocations has exactly the size
--   of the request that failed) or rounded_temporaries (it has the only such
--   allocation in the run that is as large as rounded). free_bytes are those
--   that an allocator says are free, else its free chunks, else its limit less
--   what is in use. cause compares the request with them: too_large (larger
--   than all memory), fragmentation (enough is free, in pieces that are too
--   small), pool (the device has enough, the allocator may not use it),
--   shortage.
--   failure_number joins reports of one failure. Of compilers these are the
--   reports of one program and memory space whose needed_bytes differ by at
--   most 0.5 %, or are equal where one names no program, or of which one
--   states no capacity and both the same temp_bytes and listed_bytes; and
--   reports without sizes where the program has one failure alone, or one with
--   equal listed_bytes. Other reports join where program and sizes are equal.
-- grain: report of a log
-- leading: program, space_name, needed_bytes, capacity_bytes, over_bytes,
--   path, line, largest
-- param run
-- column run
-- column path VARCHAR name neutral: The log inside the run.
-- column line BIGINT id neutral: Line that the report begins at, from 1.
-- column rank
-- column ordinal INTEGER id neutral: Which report of that file, from 0.
-- column failure_number BIGINT id neutral: Which failure it is about, from 1.
-- column failure_place BIGINT id neutral: Its place among the reports of the
--   failure, from 1; the first says most.
-- column form VARCHAR name neutral: Form of the report, see oom_reports.
-- column has_failed BOOLEAN flag neutral: Whether it says that memory did not
--   suffice; warnings, other failures and lines that are not understood do
--   not.
-- column space_name
-- column program VARCHAR name neutral: The program that ran out of memory.
-- column program_run VARCHAR name neutral: The run that holds its dump.
-- column program_by VARCHAR name neutral: How it was found: message, buffers,
--   paths, temporaries or rounded_temporaries.
-- column operation VARCHAR text neutral: What the memory was for, where the
--   message says it.
-- column needed_bytes BIGINT bytes lower_is_better: What the program needs.
-- column capacity_bytes BIGINT bytes neutral: What the memory space holds.
-- column over_bytes BIGINT bytes lower_is_better: What is too much.
-- column requested_bytes BIGINT bytes neutral: The request that failed.
-- column parameter_bytes BIGINT bytes lower_is_better: Parameters.
-- column live_out_bytes BIGINT bytes lower_is_better: Results.
-- column shared_bytes BIGINT bytes neutral: Results in the memory of
--   arguments.
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
-- column repeat_count BIGINT count neutral: How often the same report follows,
--   or a like line that is not understood; NULL if none does.
WITH reports AS (
  SELECT r.run AS run_name, o.*
  FROM selected_run() AS r
  JOIN oom_reports AS o USING (run_id)
),
sums AS (
  SELECT
    b.run_id, b.path AS log_path, b.ordinal, count(*) AS buffer_count,
    CAST(sum(b.size_bytes) AS BIGINT) AS listed_bytes,
    CAST(sum(b.size_bytes - b.unpadded_bytes) AS BIGINT) AS padding_bytes,
    max(b.size_bytes) AS largest_bytes,
    arg_max(coalesce(b.op_name, b.label, b.shape), (b.size_bytes, -b.place))
      AS largest
  FROM selected_run() AS r
  JOIN oom_buffers AS b USING (run_id)
  GROUP BY b.run_id, b.path, b.ordinal
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
),
summary AS (
  SELECT
    row_number() OVER (ORDER BY o.path, o.ordinal) AS place,
    o.run_name, o.path, o.line, o.rank, o.ordinal, o.form,
    CASE o.form
      WHEN 'program_usage' THEN coalesce(o.over_bytes > 0, false)
      ELSE o.form
        IN ('allocation', 'buffer_assignment', 'program_memory', 'killed')
    END AS has_failed, o.space_name,
    coalesce(p.program, o.program_name) AS program, n.name AS program_run,
    CASE
      WHEN o.program_name IS NOT NULL THEN coalesce(p.found_by, 'message')
      ELSE p.found_by
    END AS program_by, o.operation, o.needed_bytes, o.capacity_bytes,
    o.over_bytes, o.requested_bytes, o.parameter_bytes, o.live_out_bytes,
    o.shared_bytes, o.temp_bytes, o.temp_fragmentation_bytes,
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
  LEFT JOIN oom_programs() AS p
    ON p.run_id = o.run_id
    AND p.path = o.path
    AND p.ordinal = o.ordinal
  LEFT JOIN runs AS n
    ON n.run_id = p.program_run_id
),
refused AS (
  FROM summary AS s
  WHERE s.form = 'program_memory'
),
-- The report of the same failure that says most.
sized AS (
  SELECT
    a.place,
    arg_min(b.place, (b.capacity_bytes IS NULL, b.place)) AS leader
  FROM refused AS a
  JOIN refused AS b
    ON lower(b.space_name) IS NOT DISTINCT FROM lower(a.space_name)
    AND coalesce(a.requested_bytes = b.requested_bytes, true)
    AND coalesce(a.operation = b.operation, true)
    AND (
      a.place = b.place
      OR a.needed_bytes = b.needed_bytes
      OR (
        a.program = b.program
        AND abs(a.needed_bytes - b.needed_bytes)
          <= 0.005 * greatest(a.needed_bytes, b.needed_bytes)
      )
      -- One of them leaves out what is no temporary allocation.
      OR (
        a.program = b.program
        AND a.buffer_count = b.buffer_count
        AND a.listed_bytes = b.listed_bytes
        AND a.temp_bytes = b.temp_bytes
        AND (a.capacity_bytes IS NULL) <> (b.capacity_bytes IS NULL)
      )
      OR (
        a.needed_bytes IS NULL AND b.needed_bytes IS NULL
        AND a.over_bytes = b.over_bytes
      )
    )
    AND coalesce(a.program = b.program, true)
  WHERE a.needed_bytes IS NOT NULL
    OR a.over_bytes IS NOT NULL
  GROUP BY a.place
),
unsized AS (
  SELECT
    a.place,
    CASE WHEN count(DISTINCT l.leader) = 1 THEN any_value(l.leader)
      ELSE min(l.leader) FILTER (b.listed_bytes = a.listed_bytes)
    END AS leader
  FROM refused AS a
  JOIN refused AS b
    ON b.program = a.program
    AND coalesce(lower(b.space_name) = lower(a.space_name), true)
  JOIN sized AS l
    ON l.place = b.place
  WHERE a.needed_bytes IS NULL
    AND a.over_bytes IS NULL
  GROUP BY a.place
),
joined AS (
  SELECT
    s.*,
    coalesce(
      z.leader, u.leader,
      min(s.place) OVER (
        PARTITION BY
          s.form, s.space_name, s.program, s.operation, s.needed_bytes,
          s.capacity_bytes, s.over_bytes, s.requested_bytes, s.message,
          CASE WHEN s.form = 'program_memory' THEN s.listed_bytes END,
          z.leader IS NULL AND u.leader IS NULL
      )
    ) AS leader
  FROM summary AS s
  LEFT JOIN sized AS z USING (place)
  LEFT JOIN unsized AS u USING (place)
),
begun AS (
  SELECT *, min(place) OVER (PARTITION BY leader) AS begins
  FROM joined
)
SELECT
  b.run_name AS run, b.path, b.line, b.rank, b.ordinal,
  dense_rank() OVER (ORDER BY b.begins) AS failure_number,
  row_number() OVER (
    PARTITION BY b.begins
    ORDER BY b.capacity_bytes IS NULL, b.needed_bytes IS NULL, b.place
  ) AS failure_place,
  b.* EXCLUDE (run_name, path, line, rank, ordinal, place, leader, begins)
FROM begun AS b
ORDER BY b.path, b.ordinal
