-- step: Arguments of one name that are donated on one side only, or that are
--   sharded otherwise over as many partitions. Of several of one name, as
--   TensorFlow's XLA_Args, the n-th of a type and size go together. All that
--   are no longer sharded, or sharded now, are one edit.
-- grain: pair, edit
WITH donated AS (
  SELECT DISTINCT p.pair, p.is_candidate, a.parameter_number AS number
  FROM programs AS p
  JOIN aliases AS a USING (module_id)
),
described AS (
  SELECT
    g.*, d.number IS NOT NULL AS is_donated,
    CASE
      WHEN count(*) OVER (PARTITION BY g.pair, g.is_candidate, g.argument) > 1
        THEN hash(
          g.element_type, g.dims,
          row_number() OVER (
            PARTITION BY
              g.pair, g.is_candidate, g.argument, g.element_type, g.dims
            ORDER BY g.number
          )
        )
    END AS copy
  FROM arguments AS g
  LEFT JOIN donated AS d USING (pair, is_candidate, number)
),
argument_pairs AS (
  SELECT
    b.pair, b.argument, b.number, b.is_donated AS base_donated,
    c.is_donated AS candidate_donated,
    coalesce(b.sharding, 'replicated') AS base_sharding,
    coalesce(c.sharding, 'replicated') AS candidate_sharding, c.logical_bytes
  FROM described AS b
  JOIN described AS c
    ON c.pair = b.pair
    AND c.argument = b.argument
    AND c.copy IS NOT DISTINCT FROM b.copy
  WHERE NOT b.is_candidate
    AND c.is_candidate
)
SELECT
  a.pair, 'donation' AS change,
  CASE WHEN a.base_donated THEN 'donated' END AS base_text,
  CASE WHEN a.candidate_donated THEN 'donated' END AS candidate_text,
  arg_min(a.argument, (-a.logical_bytes, a.number)) AS subject,
  count(*) AS operation_count,
  sum(CASE WHEN a.base_donated THEN 1 ELSE -1 END * a.logical_bytes)
    AS delta_bytes, CAST(NULL AS VARCHAR[]) AS base_paths,
  CAST(NULL AS VARCHAR[]) AS candidate_paths
FROM argument_pairs AS a
WHERE a.base_donated <> a.candidate_donated
GROUP BY ALL
UNION ALL
SELECT
  a.pair, 'argument_sharding',
  CASE
    WHEN min(a.base_sharding) = max(a.base_sharding)
      THEN min(a.base_sharding)
    ELSE 'sharded'
  END,
  CASE
    WHEN min(a.candidate_sharding) = max(a.candidate_sharding)
      THEN min(a.candidate_sharding)
    ELSE 'sharded'
  END,
  arg_min(a.argument, (-a.logical_bytes, a.number)), count(*),
  sum(a.logical_bytes), list(a.argument), list(a.argument)
FROM argument_pairs AS a
SEMI JOIN (
  SELECT pair FROM programs WHERE has_same_partitions
) AS p USING (pair)
WHERE a.base_sharding <> a.candidate_sharding
GROUP BY
  a.pair,
  CASE WHEN a.candidate_sharding <> 'replicated' THEN a.base_sharding END,
  CASE WHEN a.base_sharding <> 'replicated' THEN a.candidate_sharding END
