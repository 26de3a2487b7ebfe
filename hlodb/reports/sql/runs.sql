-- Every run, in the order in which runs follow one another.
SELECT
  r.run_id, r.name, r.series, r.started_at, r.commit_sha, r.branch,
  r.compiler_version, r.framework_version, r.platform, r.device,
  r.device_memory_bytes, r.topology,
  r.labels, r.ingested_at
FROM runs AS r
JOIN run_order() AS o USING (run_id)
ORDER BY o.place DESC
