-- title: Agreement with XLA's figures
-- question: Do the figures agree with those that XLA printed, and with one
--   another?
-- definition: Per module content and check, the expected value and the value
--   found; the occurrence in the earliest run (run_order) is named by run and
--   path, the others are counted. total: allocation sizes add up to 'Total
--   bytes used'. kinds: the five kinds of memory_profile add up to
--   reserved_bytes. inside: every value lies inside its allocation. one_place:
--   every placed value lies in one allocation. order: every live range starts
--   before it ends and ends at most one step after the schedule. conflicts: no
--   two values overlap in address and strictly in time. printed_members: as
--   many values are live at the printed peak step as XLA lists there; a
--   difference is noted, but not a fault, because some releases print it
--   wrong.
-- grain: module content, check
-- leading: run, program, stage, check_name, status, expected, found, path
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- param only_faults BOOLEAN = false: Only checks that are not ok.
-- column run
-- column program
-- column module_number
-- column rank
-- column stage
-- column check_name VARCHAR name neutral: Name of the check.
-- column status VARCHAR name neutral: ok, noted or fault.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
-- column path
-- column occurrence_count BIGINT count neutral: Modules with this content in
--   the selected runs.
WITH chosen AS (
  SELECT
    m.module_id, r.place, r.run AS run_name, m.program AS program_name,
    m.module_number, m.rank, m.stage AS stage_name, m.path, m.part
  FROM modules AS m
  JOIN run_order() AS r USING (run_id)
  WHERE $run IS NULL
    OR r.run = $run
),
counted AS (
  SELECT
    module_id, max(place) AS place, count(*) AS occurrence_count
  FROM chosen
  GROUP BY module_id
),
occurrences AS (
  SELECT DISTINCT ON (o.module_id) o.*, c.occurrence_count
  FROM counted AS c
  JOIN chosen AS o USING (module_id, place)
  ORDER BY o.module_id, o.path, o.part, o.rank
),
judged AS (
  SELECT
    o.*, c.check_name, c.status, c.expected, c.found
  FROM module_sums(module_ids := (
    SELECT list(n.module_id) FROM counted AS n
  )) AS c
  JOIN occurrences AS o USING (module_id)
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
