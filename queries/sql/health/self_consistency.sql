-- title: Does the data agree with XLA
-- question: Do the numbers agree with what XLA itself printed, and with
--   themselves?
-- definition: Per module content and check, what is expected and what was
--   found; the first occurrence is named, by run and path, and the others are
--   counted. total: allocation sizes add up to 'Total bytes used'. kinds: the
--   five kinds of memory_profile add up to reserved_bytes. inside: every value
--   lies inside its allocation. one_place: every placed value lies in one
--   allocation. order: every live range starts before it ends and ends at most
--   one step after the schedule. conflicts: no two values overlap in address
--   and strictly in time. printed_members: as many values are live at the
--   printed peak step as XLA lists there; a difference is noted, not a fault,
--   since some releases print it wrong.
-- grain: module content, check
-- needs: runs, modules, allocations, allocation_values, memory_profile,
--   live_ranges, schedule, printed_peaks
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- param only_faults BOOLEAN = false: Only checks that are not ok.
-- column run
-- column program
-- column module_number
-- column rank
-- column stage
-- column check_name VARCHAR name neutral: Which check.
-- column status VARCHAR name neutral: ok, noted or fault.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
-- column path
-- column occurrence_count BIGINT count neutral: Modules of this content, in
--   all runs that were asked for.
WITH totals AS (
  SELECT module_id,
    sum(size_bytes) AS found FROM allocations GROUP BY module_id
),
kinds AS (
  SELECT
    module_id, sum(p.reserved_bytes) AS expected,
    sum(
      parameter_bytes + constant_bytes + live_out_bytes + thread_local_bytes
      + temp_bytes
    ) AS found,
    sum(conflict_count) AS conflicts
  FROM memory_profile AS p
  GROUP BY module_id
),
slots AS (
  SELECT
    v.module_id,
    count(*) FILTER (
      WHERE v.offset_bytes < 0 OR v.offset_bytes + v.size_bytes > a.size_bytes
    ) AS outside,
    count(*) - count(DISTINCT v.value_id) AS repeated
  FROM allocation_values AS v
  JOIN allocations AS a USING (module_id, allocation_id)
  GROUP BY v.module_id
),
lengths AS (
  SELECT module_id,
    max(step) + 1 AS step_count FROM store.schedule GROUP BY module_id
),
printed AS (
  SELECT
    module_id, max(printed_peaks.peak_step) AS step, count(*) AS expected
  FROM printed_peaks
  GROUP BY module_id
),
ranges AS (
  SELECT
    l.module_id,
    count(*) FILTER (
      WHERE l.start_step < 0 OR l.start_step > l.end_step
        OR l.end_step > n.step_count
    ) AS disordered,
    count(*) FILTER (WHERE p.step BETWEEN l.start_step AND l.end_step)
      AS at_peak
  FROM store.live_ranges AS l
  LEFT JOIN lengths AS n USING (module_id)
  LEFT JOIN printed AS p USING (module_id)
  GROUP BY l.module_id
),
checks AS (
  SELECT
    m.module_id, 'total' AS check_name, m.printed_total_bytes AS expected,
    t.found
  FROM (
    SELECT module_id, max(printed_total_bytes) AS printed_total_bytes
    FROM modules
    WHERE has_assignment
    GROUP BY module_id
  ) AS m
  JOIN totals AS t USING (module_id)
  UNION ALL
  SELECT module_id, 'kinds', expected, found FROM kinds
  UNION ALL
  SELECT module_id, 'conflicts', 0, conflicts FROM kinds
  UNION ALL
  SELECT module_id, 'inside', 0, outside FROM slots
  UNION ALL
  SELECT module_id, 'one_place', 0, repeated FROM slots
  UNION ALL
  SELECT module_id, 'order', 0, disordered FROM ranges
  UNION ALL
  SELECT p.module_id, 'printed_members', p.expected, r.at_peak
  FROM printed AS p
  JOIN ranges AS r USING (module_id)
),
chosen AS (
  SELECT
    m.module_id, m.run_id, r.name AS run_name, m.program AS program_name,
    m.module_number, m.rank, m.stage AS stage_name, m.path, m.part
  FROM modules AS m
  JOIN runs AS r USING (run_id)
  WHERE $run IS NULL
    OR r.name = $run
),
counted AS (
  SELECT
    module_id, min(run_id) AS run_id, count(*) AS occurrence_count
  FROM chosen
  GROUP BY module_id
),
occurrences AS (
  SELECT DISTINCT ON (o.module_id) o.*, c.occurrence_count
  FROM counted AS c
  JOIN chosen AS o USING (module_id, run_id)
  ORDER BY o.module_id, o.path, o.part, o.rank
),
judged AS (
  SELECT
    o.*, c.check_name,
    CASE
      WHEN c.expected = c.found THEN 'ok'
      WHEN c.check_name = 'printed_members' THEN 'noted'
      ELSE 'fault'
    END AS status,
    CAST(c.expected AS BIGINT) AS expected, CAST(c.found AS BIGINT) AS found
  FROM checks AS c
  JOIN occurrences AS o USING (module_id)
  WHERE c.expected IS NOT NULL
    AND c.found IS NOT NULL
)
SELECT
  j.run_name AS run, j.program_name AS program, j.module_number, j.rank,
  j.stage_name AS stage, j.check_name, j.status, j.expected, j.found, j.path,
  j.occurrence_count
FROM judged AS j
WHERE j.status <> 'ok'
  OR NOT $only_faults
ORDER BY
  CASE j.status WHEN 'fault' THEN 1 WHEN 'noted' THEN 2 ELSE 3 END,
  j.run_name, j.path, j.module_id, j.check_name
