-- step: Arguments of one name that are donated on one side only, or that are
--   sharded otherwise over as many partitions. Of several of one name, as
--   TensorFlow's XLA_Args, the n-th of a type and size go together, and of
--   those of names that one side lacks, where both have as many: they were
--   renamed. All that are no longer sharded, or sharded now, are one edit.
-- grain: pair, edit
WITH donated AS (
  SELECT DISTINCT p.pair, p.is_candidate, a.parameter_number AS number
  FROM programs AS p
  JOIN aliases AS a USING (module_id)
),
-- An argument that is a part of one other on one side has the name of before,
-- but integers are no numbers: ids of users are no table of users.
names AS (
  SELECT DISTINCT
    pair, is_candidate, argument,
    regexp_matches(element_type, '^(pred|[su]\d)') AS is_integer
  FROM arguments
),
contained AS (
  SELECT g.pair, g.is_candidate, g.argument, o.argument AS inner_argument
  FROM names AS g
  JOIN names AS o
    ON o.pair = g.pair
    AND o.is_candidate <> g.is_candidate
    AND o.is_integer = g.is_integer
    AND o.argument
      = regexp_replace(g.argument, '^\w+(\.|\['')(\w+)(''\])?', '\2')
  ANTI JOIN names AS s
    ON s.pair = g.pair
    AND s.is_candidate <> g.is_candidate
    AND s.argument = g.argument
  QUALIFY count(*) OVER (
    PARTITION BY g.pair, g.is_candidate, o.argument
  ) = 1
),
named AS (
  SELECT
    g.* REPLACE (coalesce(c.inner_argument, g.argument) AS argument)
  FROM arguments AS g
  LEFT JOIN contained AS c USING (pair, is_candidate, argument)
),
described AS (
  SELECT
    g.* REPLACE (
      -- Cut nowhere, it is whole in each copy.
      CASE
        WHEN regexp_full_match(g.sharding, '1(x1)*(, \d+ copies)?')
          THEN 'replicated'
        ELSE coalesce(g.sharding, 'replicated')
      END AS sharding
    ), d.number IS NOT NULL AS is_donated,
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
  FROM named AS g
  LEFT JOIN donated AS d USING (pair, is_candidate, number)
),
renamed AS (
  SELECT
    g.pair, g.is_candidate, g.number, g.element_type, g.dims,
    row_number() OVER (
      PARTITION BY g.pair, g.is_candidate, g.element_type, g.dims
      -- Those that are alike go together, however they were reordered.
      ORDER BY g.is_donated, g.sharding, g.number
    ) AS place,
    count_if(g.is_candidate) OVER same_size
    = count_if(NOT g.is_candidate) OVER same_size AS is_as_many
  FROM described AS g
  ANTI JOIN named AS o
    ON o.pair = g.pair
    AND o.is_candidate <> g.is_candidate
    AND o.argument = g.argument
  WINDOW same_size AS (PARTITION BY g.pair, g.element_type, g.dims)
),
numbers AS (
  SELECT b.pair, b.number AS base_number, c.number AS candidate_number
  FROM described AS b
  JOIN described AS c
    ON c.pair = b.pair
    AND c.argument = b.argument
    AND c.copy IS NOT DISTINCT FROM b.copy
  WHERE NOT b.is_candidate
    AND c.is_candidate
  UNION ALL
  SELECT b.pair, b.number, c.number
  FROM renamed AS b
  JOIN renamed AS c USING (pair, element_type, dims, place)
  WHERE NOT b.is_candidate
    AND c.is_candidate
    AND b.is_as_many
),
argument_pairs AS (
  SELECT
    n.pair, c.argument, b.argument AS base_argument, c.number,
    b.is_donated AS base_donated, c.is_donated AS candidate_donated,
    b.sharding AS base_sharding, c.sharding AS candidate_sharding,
    c.logical_bytes
  FROM numbers AS n
  JOIN described AS b
    ON b.pair = n.pair
    AND NOT b.is_candidate
    AND b.number = n.base_number
  JOIN described AS c
    ON c.pair = n.pair
    AND c.is_candidate
    AND c.number = n.candidate_number
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
  sum(a.logical_bytes), list(a.base_argument), list(a.argument)
FROM argument_pairs AS a
SEMI JOIN (
  SELECT pair FROM programs WHERE has_same_partitions
) AS p USING (pair)
WHERE a.base_sharding <> a.candidate_sharding
GROUP BY
  a.pair,
  CASE WHEN a.candidate_sharding <> 'replicated' THEN a.base_sharding END,
  CASE WHEN a.base_sharding <> 'replicated' THEN a.candidate_sharding END
