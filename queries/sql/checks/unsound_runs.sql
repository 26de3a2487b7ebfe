-- title: Unsound runs
-- question: Which runs have data that reports cannot rely on?
-- definition: Runs with more than max_rejects rejects, and, with consistency,
--   runs with a module content in which self_consistency finds a fault. They
--   are not used as a base by default and have no place in the history; a
--   report on one has the verdict unknown.
-- grain: run
-- param max_rejects
-- param consistency
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs; NULL for all.
-- column run_id
-- column run
WITH asked AS MATERIALIZED (
  SELECT DISTINCT unnest($run_ids) AS run_id
  UNION
  SELECT r.run_id
  FROM runs AS r
  WHERE $run_ids IS NULL
),
held AS MATERIALIZED (
  SELECT DISTINCT a.run_id, m.module_id
  FROM asked AS a
  JOIN modules AS m USING (run_id)
  WHERE $consistency
)
SELECT r.run_id, r.name AS run
FROM runs AS r
WHERE r.run_id IN (
  SELECT j.run_id
  FROM asked AS a
  JOIN rejects AS j USING (run_id)
  GROUP BY j.run_id
  HAVING count(*) > $max_rejects
  UNION ALL
  SELECT h.run_id
  FROM module_sums(module_ids := (
    SELECT list_distinct(coalesce(list(d.module_id), [])) FROM held AS d
  )) AS s
  JOIN held AS h USING (module_id)
  WHERE s.status = 'fault'
)
