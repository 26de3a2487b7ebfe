-- title: Deduplication
-- question: How much space is saved by storing equal content once?
-- definition: Over all runs, the number ingested and the number that are
--   distinct: files by sha256, module snapshots by module_id, source locations
--   by locations_id, compiled programs by exact_fingerprint; instructions are
--   ingested with every occurrence and stored once per module_id.
-- grain: thing
-- column thing VARCHAR name neutral: Kind of content: files, file_bytes,
--   modules, locations, programs or instructions.
-- column seen BIGINT count neutral: Number ingested.
-- column stored BIGINT count lower_is_better: Number that are distinct.
-- column stored_ratio DOUBLE ratio lower_is_better: Share that is distinct.
WITH files AS (
  SELECT sha256, count(*) AS n, max(size_bytes) AS size_bytes
  FROM dump_files
  WHERE sha256 IS NOT NULL
  GROUP BY sha256
),
contents AS (
  SELECT module_id, count(*) AS n, max(instruction_count) AS instruction_count
  FROM modules
  GROUP BY module_id
),
things AS (
  SELECT 1 AS place, 'files' AS thing, sum(n) AS seen,
    count(*) AS stored FROM files
  UNION ALL
  SELECT
    2, 'file_bytes', sum(CAST(n AS HUGEINT) * size_bytes), sum(size_bytes)
  FROM files
  UNION ALL
  SELECT 3, 'modules', sum(n), count(*) FROM contents
  UNION ALL
  SELECT 4, 'locations', count(locations_id), count(DISTINCT locations_id)
  FROM modules
  UNION ALL
  SELECT 5, 'programs', count(exact_fingerprint),
    count(DISTINCT exact_fingerprint)
  FROM modules
  WHERE has_assignment
  UNION ALL
  SELECT
    6, 'instructions', sum(CAST(n AS HUGEINT) * instruction_count),
    sum(instruction_count)
  FROM contents
)
SELECT
  thing, CAST(coalesce(seen, 0) AS BIGINT) AS seen,
  CAST(coalesce(stored, 0) AS BIGINT) AS stored,
  stored / nullif(seen, 0) AS stored_ratio
FROM things
ORDER BY place
