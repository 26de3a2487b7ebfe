-- title: Contradictions inside modules
-- question: Do the figures of each module agree with one another?
-- definition: Per module content and check, the expected value and the value
--   found. total: allocation sizes add up to 'Total bytes used'. kinds: the
--   five kinds of memory_profile add up to reserved_bytes. inside: every value
--   lies inside its allocation. one_place: every placed value lies in one
--   allocation. order: every live range starts before it ends and ends at most
--   one step after the schedule. conflicts: no two values overlap in address
--   and strictly in time. printed_members: as many values are live at the
--   printed peak step as XLA lists there; a difference is noted, but not a
--   fault, because some releases print it wrong.
-- grain: module content, check
-- param module_ids
-- column module_id
-- column check_name VARCHAR name neutral: Name of the check.
-- column status VARCHAR name neutral: ok, noted or fault.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH wanted AS MATERIALIZED (
  -- Unnested, they are taken for a few rows.
  SELECT
    unnest(list_distinct(coalesce(
      $module_ids, (SELECT list(n.module_id) FROM store.snapshots AS n)
    ))) AS module_id
),
totals AS (
  SELECT module_id,
    sum(size_bytes) AS found
  FROM wanted
  JOIN allocations USING (module_id)
  GROUP BY module_id
),
kinds AS (
  SELECT
    module_id, sum(p.reserved_bytes) AS expected,
    sum(
      parameter_bytes + constant_bytes + live_out_bytes + thread_local_bytes
      + temp_bytes
    ) AS found,
    sum(conflict_count) AS conflicts
  FROM wanted
  JOIN memory_profile AS p USING (module_id)
  GROUP BY module_id
),
slots AS (
  SELECT
    module_id,
    count(*) FILTER (
      WHERE v.offset_bytes < 0 OR v.offset_bytes + v.size_bytes > a.size_bytes
    ) AS outside,
    count(*) - count(DISTINCT v.value_id) AS repeated
  FROM wanted
  JOIN allocation_values AS v USING (module_id)
  JOIN allocations AS a USING (module_id, allocation_id)
  GROUP BY module_id
),
lengths AS (
  SELECT module_id,
    max(step) + 1 AS step_count
  FROM wanted
  JOIN store.schedule USING (module_id)
  GROUP BY module_id
),
printed AS (
  SELECT
    module_id, max(printed_peaks.peak_step) AS step, count(*) AS expected
  FROM wanted
  JOIN printed_peaks USING (module_id)
  GROUP BY module_id
),
ranges AS (
  SELECT
    module_id,
    count(*) FILTER (
      WHERE l.start_step < 0 OR l.start_step > l.end_step
        OR l.end_step > n.step_count
    ) AS disordered,
    count(*) FILTER (WHERE p.step BETWEEN l.start_step AND l.end_step)
      AS at_peak
  FROM wanted
  JOIN store.live_ranges AS l USING (module_id)
  LEFT JOIN lengths AS n USING (module_id)
  LEFT JOIN printed AS p USING (module_id)
  GROUP BY module_id
),
checks AS (
  SELECT
    m.module_id, 'total' AS check_name, m.printed_total_bytes AS expected,
    t.found
  FROM (
    SELECT module_id, max(printed_total_bytes) AS printed_total_bytes
    FROM store.snapshots
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
)
SELECT
  c.module_id, c.check_name,
  CASE
    WHEN c.expected = c.found THEN 'ok'
    WHEN c.check_name = 'printed_members' THEN 'noted'
    ELSE 'fault'
  END AS status,
  CAST(c.expected AS BIGINT) AS expected, CAST(c.found AS BIGINT) AS found
FROM checks AS c
WHERE c.expected IS NOT NULL
  AND c.found IS NOT NULL
