-- title: The run that a question is about
-- question: Which run does `run` mean: the one of that name, or the latest?
-- definition: The run called `run`; without a name the one with the greatest
--   started_at, then ingested_at, then run_id.
-- grain: run (at most one)
-- needs: runs
-- param run
-- column run_id
-- column run
SELECT r.run_id, r.name AS run
FROM runs AS r
WHERE $run IS NULL
  OR r.name = $run
ORDER BY
  r.started_at DESC NULLS LAST, r.ingested_at DESC NULLS LAST, r.run_id DESC
LIMIT 1
