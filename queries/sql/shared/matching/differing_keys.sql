-- title: What makes two modules incomparable
-- question: In which of inputs, partitions and platform do two modules
--   differ?
-- definition: input shapes: the shapes of the modules' own arguments and
--   program_key differ, and those of their sources differ or are unknown. The
--   order of arguments does not count, and results are no input.
--   num_partitions: both are known and differ; a module that prints one
--   partition, but has other entry shapes than its source, was partitioned by
--   an older release that does not print the number, which is then unknown.
--   platform: both are known and differ.
-- grain: pair of modules (one row)
-- param base_key BIGINT = NULL: program_key of the base.
-- param base_shapes VARCHAR = NULL: Its entry shapes.
-- param base_source VARCHAR = NULL: Entry shapes of its source.
-- param base_partitions BIGINT = NULL from 0: Its num_partitions.
-- param base_platform VARCHAR = NULL: Its platform.
-- param candidate_key BIGINT = NULL: program_key of the candidate.
-- param candidate_shapes VARCHAR = NULL: Its entry shapes.
-- param candidate_source VARCHAR = NULL: Entry shapes of its source.
-- param candidate_partitions BIGINT = NULL from 0: Its num_partitions.
-- param candidate_platform VARCHAR = NULL: Its platform.
-- column differing_keys VARCHAR name neutral: The differences, separated by
--   commas; empty if the modules are comparable.
-- column has_same_shapes BOOLEAN flag neutral: Whether entry shapes, results
--   included, or those of the sources, are known to be the same.
WITH facts AS (
  SELECT
    coalesce($base_source = $candidate_source, FALSE)
      OR coalesce($base_shapes = $candidate_shapes, FALSE) AS is_same,
    coalesce(bs.arrays = cs.arrays, FALSE)
      OR coalesce(b.arrays = c.arrays, FALSE) AS has_same_inputs,
    CASE
      WHEN $base_partitions <> 1
        OR coalesce($base_source, $base_shapes, '')
          = coalesce($base_shapes, '')
        THEN $base_partitions
    END AS base_number,
    CASE
      WHEN $candidate_partitions <> 1
        OR coalesce($candidate_source, $candidate_shapes, '')
          = coalesce($candidate_shapes, '')
        THEN $candidate_partitions
    END AS candidate_number
  FROM argument_arrays(shapes := $base_shapes) AS b
  CROSS JOIN argument_arrays(shapes := $candidate_shapes) AS c
  CROSS JOIN argument_arrays(shapes := $base_source) AS bs
  CROSS JOIN argument_arrays(shapes := $candidate_source) AS cs
)
SELECT
  concat_ws(
    ', ',
    CASE
      WHEN NOT f.has_same_inputs
        AND $base_key IS DISTINCT FROM $candidate_key
        THEN 'input shapes'
    END,
    CASE WHEN f.base_number <> f.candidate_number THEN 'num_partitions' END,
    CASE WHEN $base_platform <> $candidate_platform THEN 'platform' END
  ) AS differing_keys,
  f.is_same AS has_same_shapes
FROM facts AS f
