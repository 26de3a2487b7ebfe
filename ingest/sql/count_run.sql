-- What a run holds, modules counted as often as they occur.
SELECT
  (SELECT count(*) FROM modules WHERE run_id = $run_id),
  (SELECT coalesce(sum(instruction_count), 0) FROM modules
   WHERE run_id = $run_id),
  (SELECT count(*) FROM modules JOIN allocations USING (module_id)
   WHERE run_id = $run_id),
  (SELECT count(*) FROM modules JOIN store."values" USING (module_id)
   WHERE run_id = $run_id),
  (SELECT count(*) FROM modules JOIN store.live_ranges USING (module_id)
   WHERE run_id = $run_id),
  (SELECT count(*) FROM rejects WHERE run_id = $run_id)
