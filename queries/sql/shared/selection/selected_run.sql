-- title: The selected run
-- question: Which run is selected by `run`?
-- definition: The run named `run`, or without a name the latest (run_order).
-- grain: run (at most one)
-- param run
-- column run_id
-- column run
SELECT r.run_id, r.run
FROM run_order() AS r
WHERE $run IS NULL
  OR r.run = $run
ORDER BY r.place
LIMIT 1
