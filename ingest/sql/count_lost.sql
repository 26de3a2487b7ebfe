-- Modules of a run without their details, and units that could not be copied.
SELECT
  (SELECT count(*) FROM modules AS m
   ANTI JOIN computations AS c ON c.module_id = m.module_id
   WHERE m.run_id = $run_id AND m.computation_count > 0
     AND m.is_detailed),
  (SELECT count(*) FROM (SELECT unnest($unit_digests) AS unit_digest) AS u
   ANTI JOIN modules AS m
     ON m.unit_digest = u.unit_digest AND m.run_id = $run_id)
