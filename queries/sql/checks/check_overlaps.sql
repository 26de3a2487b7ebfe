-- title: No live values overlap
-- question: Where does an assignment give the same bytes to two values that
--   are live at the same time?
-- definition: No two values of one allocation overlap in address and strictly
--   in time (a.start < b.end and b.start < a.end). Thread-local allocations
--   are left out, and so are values that a conditional reads: their printed
--   range covers all branches, but a branch may reuse their bytes after
--   reading them for the last time. found is the number of such pairs in a
--   memory space; overlap_conflicts lists them.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
SELECT
  p.module_id, 'pairs of values in colour ' || p.color AS place,
  CAST(0 AS BIGINT) AS expected,
  CAST(p.conflict_count AS BIGINT) AS found
FROM checked_modules() AS m
JOIN memory_profile AS p USING (module_id)
WHERE p.conflict_count > 0
