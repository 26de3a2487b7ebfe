-- title: No live values overlap
-- question: Where does an assignment give the same bytes to two values that
--   are live at the same time?
-- definition: No two values of one allocation overlap in address and strictly
--   in time (a.start < b.end and b.start < a.end); thread-local allocations
--   apart, and what a conditional reads: its range goes through all branches,
--   and each has its bytes for others as soon as it reads it no more. found is
--   the number of such pairs of a memory space; overlap_conflicts lists them.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: What of the module is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
SELECT
  p.module_id, 'pairs of values in colour ' || p.color AS place,
  CAST(0 AS BIGINT) AS expected,
  CAST(p.conflict_count AS BIGINT) AS found
FROM checked_modules() AS m
JOIN memory_profile AS p USING (module_id)
WHERE p.conflict_count > 0
