-- title: Results of all checks
-- question: Is the data sound, and does it agree with XLA's and JAX's own
--   figures?
-- definition: One row per check that succeeds; for a check that fails, one row
--   per module, file or table, with the place where expected and found differ
--   most. For a module in several runs the earliest (run_order) is named.
--   References and keys are checked in the whole warehouse.
-- grain: check, module or file or table that fails it
-- leading: check_name, status, run, program, place, expected, found
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column check_name VARCHAR name neutral: Name of the check; the query
--   check_NAME defines it.
-- column status VARCHAR name neutral: ok or fault.
-- column run
-- column program
-- column module_number
-- column rank
-- column stage
-- column path
-- column place VARCHAR text neutral: Place with the largest difference.
-- column expected BIGINT count neutral: Expected value there.
-- column found BIGINT count neutral: Value found there.
-- column fault_count BIGINT count lower_is_better: Places that fail.
-- column checked_count BIGINT count neutral: Rows that the check compares.
WITH faults_of_modules AS MATERIALIZED (
  SELECT f.* FROM module_faults() AS f
),
faulty AS MATERIALIZED (
  -- Fixed: of few snapshots, if any, before all occurrences are read.
  SELECT s.snapshot_id, s.module_id, s.program AS program_name
  FROM store.snapshots AS s
  WHERE s.module_id IN (SELECT module_id FROM faults_of_modules)
),
occurrences AS (
  SELECT DISTINCT ON (s.module_id)
    s.module_id, r.run AS run_name, s.program_name,
    p.module_number, p.rank, p.stage AS stage_name, p.path
  FROM faulty AS s
  JOIN store.occurrences AS o USING (snapshot_id)
  JOIN store.paths AS p USING (path_id)
  JOIN run_order() AS r USING (run_id)
  WHERE $run IS NULL
    OR r.run = $run
  ORDER BY s.module_id, r.place DESC, p.path
),
faults AS (
  SELECT
    f.check_name, o.run_name, o.program_name, o.module_number, o.rank,
    o.stage_name, o.path, f.place, f.expected, f.found, f.fault_count
  FROM faults_of_modules AS f
  LEFT JOIN occurrences AS o USING (module_id)
  UNION ALL
  SELECT
    'files', r.name, NULL, NULL, NULL, NULL, f.path, f.place, f.expected,
    f.found, f.found
  FROM check_files() AS f
  JOIN runs AS r USING (run_id)
  UNION ALL
  SELECT
    'references', NULL, NULL, NULL, NULL, NULL, NULL, c.place, c.expected,
    c.found, c.found
  FROM check_references() AS c
  UNION ALL
  SELECT
    'keys', NULL, NULL, NULL, NULL, NULL, NULL, c.place, c.expected, c.found,
    c.expected - c.found
  FROM check_keys() AS c
)
SELECT
  l.check_name,
  CASE WHEN f.check_name IS NULL THEN 'ok' ELSE 'fault' END AS status,
  f.run_name AS run, f.program_name AS program, f.module_number, f.rank,
  f.stage_name AS stage, f.path, f.place,
  CAST(f.expected AS BIGINT) AS expected, CAST(f.found AS BIGINT) AS found,
  coalesce(f.fault_count, 0) AS fault_count,
  l.checked_count
FROM check_list() AS l
LEFT JOIN faults AS f USING (check_name)
ORDER BY l.ordinal, f.run_name, f.path, f.module_number, f.place
