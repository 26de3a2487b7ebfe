-- What a run holds, modules counted as often as they occur.
SELECT
  count(*),
  coalesce(sum(instruction_count), 0),
  coalesce(sum(allocation_count), 0),
  coalesce(sum(value_count), 0),
  coalesce(sum(live_range_count), 0),
  (SELECT count(*) FROM rejects WHERE run_id = $run_id)
FROM modules
WHERE run_id = $run_id
