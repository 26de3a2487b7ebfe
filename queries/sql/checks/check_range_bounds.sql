-- title: Live ranges lie inside the schedule
-- question: Which live ranges end before they start, or outside the schedule?
-- definition: 0 <= start_step <= end_step <= number of steps; values that
--   outlive the program end one step past the last. expected is the number of
--   steps, or the start if the range ends before it; found is the end.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
SELECT
  l.module_id,
  'live range of ' || i.name || l.shape_index || ', ' || l.start_step || '-'
    || l.end_step AS place,
  CAST(CASE
    WHEN l.end_step < l.start_step THEN l.start_step ELSE n.steps
  END AS BIGINT) AS expected,
  CAST(CASE
    WHEN l.start_step < 0 THEN l.start_step ELSE l.end_step
  END AS BIGINT) AS found
FROM checked_modules() AS m
JOIN store.live_ranges AS l USING (module_id)
JOIN (
  SELECT module_id, max(step) + 1 AS steps
  FROM store.schedule
  GROUP BY module_id
) AS n USING (module_id)
LEFT JOIN store.instructions AS i USING (module_id, instruction_id)
WHERE l.start_step < 0
  OR l.end_step < l.start_step
  OR l.end_step > n.steps
