-- title: Reports of running out of memory that a dump does not fit
-- question: Which reports of running out of memory can no program of the dump
--   beside them have caused?
-- definition: Reports of failed requests and compilations in a run that has
--   programs. is_other_platform: the report is about another platform
--   (report_platforms) than every program of the run. is_too_large: a request
--   for device memory without another use named, or the total of a program, is
--   more than 1 % larger than what the largest program reserves; only in runs
--   that were read as a whole and have a buffer assignment of every program.
--   Reports that are neither are left out.
-- grain: report of a log
-- param run
-- column run_id
-- column path VARCHAR name neutral: The log inside the run.
-- column ordinal INTEGER id neutral: Which report of that file, from 0.
-- column is_other_platform BOOLEAN flag neutral: Whether the report is about
--   another platform than the programs.
-- column is_too_large BOOLEAN flag neutral: Whether no program reserves so
--   much.
-- column device VARCHAR text neutral: What the report is about, in words.
-- column platforms VARCHAR name neutral: Platforms of the programs.
-- column asked_bytes BIGINT bytes lower_is_better: The request, or the total.
-- column program VARCHAR name neutral: The largest program.
-- column reserved_bytes BIGINT bytes lower_is_better: What it reserves.
WITH reports AS (
  SELECT
    o.*,
    -- Compilers count the whole program, runtimes one of its allocations.
    CASE
      WHEN o.operation IS NOT NULL OR o.space_name = 'host' THEN NULL
      WHEN o.form = 'allocation' THEN o.requested_bytes
      WHEN o.form = 'buffer_assignment'
        THEN coalesce(o.requested_bytes, o.total_bytes)
    END AS asked_bytes
  FROM selected_run() AS r
  JOIN oom_reports AS o USING (run_id)
  WHERE o.form IN ('allocation', 'buffer_assignment', 'program_memory')
    AND o.allocator_name IS DISTINCT FROM 'PyTorch'
),
limited AS (
  SELECT
    o.run_id, o.path AS log_path, o.ordinal,
    list(DISTINCT p.platform) AS fitting, min(p.device) AS device
  FROM reports AS o
  JOIN report_platforms() AS p
    ON regexp_matches(
      CASE p.field
        WHEN 'allocator_name' THEN o.allocator_name
        WHEN 'device_name' THEN o.device_name
        WHEN 'space_name' THEN lower(o.space_name)
      END, p.pattern
    )
  GROUP BY o.run_id, o.path, o.ordinal
),
compiled AS (
  SELECT
    m.run_id, m.program, m.module_number, m.rank,
    bool_or(m.has_assignment) AS is_assigned,
    list(DISTINCT coalesce(m.platform, n.platform, 'unknown')) AS platforms
  FROM selected_run() AS r
  JOIN modules AS m USING (run_id)
  JOIN runs AS n USING (run_id)
  GROUP BY m.run_id, m.program, m.module_number, m.rank
),
programs AS (
  SELECT
    c.run_id, bool_and(c.is_assigned) AS is_assigned,
    list_distinct(flatten(list(c.platforms))) AS platforms
  FROM compiled AS c
  GROUP BY c.run_id
),
largest AS (
  SELECT
    m.run_id, max(m.reserved_bytes) AS reserved_bytes,
    arg_max(m.program, (m.reserved_bytes, m.program)) AS program_name
  FROM selected_run() AS r
  JOIN module_memory AS m USING (run_id)
  GROUP BY m.run_id
),
judged AS (
  SELECT
    o.run_id, o.path AS log_path, o.ordinal,
    coalesce(
      NOT list_contains(p.platforms, 'unknown')
        AND NOT list_has_any(p.platforms, l.fitting), false
    ) AS is_other_platform,
    coalesce(
      p.is_assigned
        AND o.run_id NOT IN (SELECT j.run_id FROM rejects AS j)
        AND o.asked_bytes > 1.01 * g.reserved_bytes, false
    ) AS is_too_large,
    l.device, array_to_string(list_sort(p.platforms), ', ') AS platforms,
    o.asked_bytes, g.program_name, g.reserved_bytes
  FROM reports AS o
  JOIN programs AS p USING (run_id)
  JOIN largest AS g USING (run_id)
  LEFT JOIN limited AS l
    ON l.run_id = o.run_id
    AND l.log_path = o.path
    AND l.ordinal = o.ordinal
)
SELECT
  j.run_id, j.log_path AS path, j.ordinal, j.is_other_platform,
  j.is_too_large, j.device, j.platforms, j.asked_bytes,
  j.program_name AS program, j.reserved_bytes
FROM judged AS j
WHERE j.is_other_platform
  OR j.is_too_large
ORDER BY j.run_id, j.log_path, j.ordinal
