-- step: Modules with the track that links make of them, and a hash of what
--   decides whether two are comparable.
-- grain: track, run
WITH RECURSIVE followed AS (
  SELECT
    row_number() OVER (ORDER BY h.run_place, h.place) AS track, h.run_id,
    h.place, CAST(NULL AS VARCHAR) AS method,
    CAST(NULL AS DOUBLE) AS confidence,
    CAST(NULL AS BIGINT) AS earlier_run_id,
    CAST(NULL AS BIGINT) AS earlier_place
  FROM compiled_modules AS h
  ANTI JOIN links AS l
    ON l.candidate_run_id = h.run_id
    AND l.candidate_place = h.place
  UNION ALL
  SELECT
    f.track, l.candidate_run_id, l.candidate_place, l.method, l.confidence,
    l.base_run_id, l.base_place
  FROM followed AS f
  JOIN links AS l
    ON l.base_run_id = f.run_id
    AND l.base_place = f.place
)
SELECT
  f.*, h.* EXCLUDE (run_id, place),
  hash(
    h.program_key, h.entry_shapes, h.source_shapes, h.num_partitions,
    h.platform
  ) AS shape
FROM followed AS f
JOIN compiled_modules AS h
  ON h.run_id = f.run_id
  AND h.place = f.place
