-- step: Sizes that differ, those of whole arrays and not of the part that one
--   device has, by what they are a size of: layers where the first
--   dimension of three arguments changes alike, of which two have other names
--   (the last two words, without numbers), or all three dimensions or more and
--   names that differ without their numbers; else what size_names says. A
--   width is one of several dimensions, counted from the last: what one array
--   has last another reads; else it may be anything. It is a width where most
--   arguments say so, whatever one of them is called. Where the number of
--   dimensions differs, or only their sizes and not that of the array, all are
--   named: reshaped is an array of as many elements in more or fewer
--   dimensions.
-- grain: pair, size of the base, size of the candidate
-- materialised: no
WITH dimensions AS (
  SELECT
    d.*,
    count(*) FILTER (WHERE d.dimension = 1) OVER (
      PARTITION BY d.base_id, d.candidate_id, d.base_size, d.candidate_size
    ) AS first_count,
    b.size = d.base_sizes[d.dimension]
    AND c.size = d.candidate_sizes[d.dimension] AS is_leading,
    d.dimension = 1
    AND len(d.base_sizes) >= 2
    AND list_contains(v.numbers, CAST(d.base_sizes[1] AS VARCHAR))
    AND list_contains(w.numbers, CAST(d.candidate_sizes[1] AS VARCHAR))
    AND NOT list_contains(v.numbers, CAST(d.candidate_sizes[1] AS VARCHAR))
    AND NOT list_contains(w.numbers, CAST(d.base_sizes[1] AS VARCHAR))
      AS is_of_steps
  FROM (
    SELECT
      p.*,
      p.base_sizes[p.dimension] * coalesce(p.base_parts[p.dimension], 1)
        AS base_size,
      p.candidate_sizes[p.dimension]
      * coalesce(p.candidate_parts[p.dimension], 1) AS candidate_size
    FROM (
      SELECT
        *, unnest(range(1, len(base_sizes) + 1)) AS dimension
      FROM paired_arguments
      WHERE NOT is_reshaped
    ) AS p
  ) AS d
  LEFT JOIN leading_sizes AS b ON b.module_id = d.base_id
  LEFT JOIN leading_sizes AS c ON c.module_id = d.candidate_id
  LEFT JOIN loop_limits AS v ON v.module_id = d.base_id
  LEFT JOIN loop_limits AS w ON w.module_id = d.candidate_id
  WHERE d.base_size <> d.candidate_size
),
-- A sequence is as long as before where other arguments say so.
kept_sequences AS (
  SELECT DISTINCT p.base_id, p.candidate_id
  FROM paired_arguments AS p
  JOIN size_names() AS s
    ON s.meaning = 'sequence length'
    AND regexp_matches(lower(p.argument), s.words)
    AND regexp_full_match(p.base_type, s.types)
  WHERE len(p.base_sizes) >= 2
    AND p.base_sizes[-1] = p.candidate_sizes[-1]
),
-- Nor is the batch another where an array of the same container says so, which
-- is not called a batch for its container alone: batch['mean'] may be the same
-- for all examples. It says so as a whole, not by the part of one device.
kept_batches AS (
  SELECT DISTINCT
    p.base_id, p.candidate_id, regexp_extract(p.argument, '^\w+') AS container
  FROM paired_arguments AS p
  JOIN size_names() AS s
    ON s.meaning = 'batch'
    AND s.dimension = 'leading'
    AND regexp_matches(
      regexp_replace(lower(p.argument), '^\w+\W+\b', ''), s.words
    )
    AND regexp_full_match(p.base_type, s.types)
  WHERE p.base_sizes[1] > 1
    AND p.base_sizes[1] * coalesce(p.base_parts[1], 1)
      = p.candidate_sizes[1] * coalesce(p.candidate_parts[1], 1)
),
named_dimensions AS (
  SELECT
    d.*, CASE WHEN d.is_of_steps THEN 9 ELSE n.place END AS name_place,
    CASE WHEN d.is_of_steps THEN 'loop steps' ELSE n.meaning END
      AS size_meaning,
    k.base_id IS NOT NULL
    AND coalesce(n.meaning = 'sequence length', FALSE)
    OR o.base_id IS NOT NULL
    AND d.dimension = 1
    AND coalesce(n.meaning = 'batch', FALSE) AS is_of_others,
    d.dimension = 1
    AND len(d.base_sizes) >= 2
    AND coalesce(n.meaning, '') <> 'batch' AS is_stackable,
    -- The moments of a weight are named as it is.
    regexp_replace(
      regexp_extract(
        regexp_replace(d.argument, '[0-9]+', '', 'g'), '(\w+\W+)?\w+\W*$'
      ), '^(params?|weights|state|model|mu|nu|m|v|ema|average)\W+', ''
    ) AS leaf
  FROM dimensions AS d
  LEFT JOIN LATERAL (
    SELECT s.place, s.meaning
    FROM size_names() AS s
    WHERE regexp_matches(lower(d.argument), s.words)
      AND regexp_full_match(d.base_type, s.types)
      AND CASE s.dimension
        WHEN 'first' THEN d.dimension = 1
        WHEN 'first of several' THEN d.dimension = 1 AND d.first_count > 1
        WHEN 'leading' THEN d.dimension > 1 AND d.is_leading
        WHEN 'last' THEN d.dimension > 1 AND d.dimension = len(d.base_sizes)
        WHEN 'later' THEN d.dimension > 2
        WHEN 'square'
          THEN d.dimension > 1
          AND (
            d.dimension > 2
            AND d.base_sizes[d.dimension - 1] = d.base_sizes[d.dimension]
            AND d.candidate_sizes[d.dimension - 1]
              = d.candidate_sizes[d.dimension]
            OR d.base_sizes[d.dimension + 1] = d.base_sizes[d.dimension]
            AND d.candidate_sizes[d.dimension + 1]
              = d.candidate_sizes[d.dimension]
          )
        WHEN 'largest'
          THEN d.base_sizes[d.dimension] = list_max(d.base_sizes)
          AND d.candidate_sizes[d.dimension] = list_max(d.candidate_sizes)
        ELSE TRUE
      END
    ORDER BY s.place
    LIMIT 1
  ) AS n ON TRUE
  LEFT JOIN kept_sequences AS k
    ON k.base_id = d.base_id
    AND k.candidate_id = d.candidate_id
  LEFT JOIN kept_batches AS o
    ON o.base_id = d.base_id
    AND o.candidate_id = d.candidate_id
    AND o.container = regexp_extract(d.argument, '^\w+')
),
sized AS (
  SELECT
    d.*, d.size_meaning = 'width'
    AND min(len(d.base_sizes) - d.dimension) OVER same_sizes
      = max(len(d.base_sizes) - d.dimension) OVER same_sizes AS is_any_size,
    bool_and(d.is_stackable) OVER same_sizes
    AND count(*) OVER same_sizes >= 3
    AND (
      min(len(d.base_sizes)) OVER same_sizes >= 3
      -- What each of several blocks has is no stack of them.
      AND count(DISTINCT regexp_replace(d.argument, '[0-9]+', '', 'g'))
        OVER same_sizes = count(*) OVER same_sizes
      OR min(d.leaf) OVER same_sizes <> max(d.leaf) OVER same_sizes
    ) AS is_of_layers
  FROM named_dimensions AS d
  WINDOW same_sizes AS (
    PARTITION BY d.base_id, d.candidate_id, d.base_size, d.candidate_size
  )
)
SELECT
  base_id, candidate_id,
  CASE
    WHEN bool_and(is_of_layers) THEN 5
    ELSE coalesce(min(name_place), 80)
  END AS place,
  'resized' AS change,
  CASE
    WHEN bool_and(is_of_layers) THEN 'layers'
    ELSE coalesce(
      CASE
        WHEN NOT bool_or(is_of_others OR coalesce(is_any_size, FALSE))
          THEN CASE
            -- One table that is as wide says nothing of what all others have.
            WHEN arg_min(size_meaning, name_place)
                IN ('vocabulary', 'positions', 'classes')
              AND 2 * count_if(size_meaning = 'width') > count(*)
              THEN 'width'
            ELSE arg_min(size_meaning, name_place)
          END
      END,
      arg_min(
        argument || '[' || (dimension - 1) || ']', (length(argument), argument)
      )
    )
  END AS meaning,
  format('{:,}', base_size) AS base_size,
  format('{:,}', candidate_size) AS candidate_size,
  count(DISTINCT candidate_number) AS argument_count,
  list_transform(
    list_sort(list(DISTINCT struct_pack(
      width := length(argument), argument := argument
    ))), lambda x: x.argument
  ) AS arguments,
  CAST(sum(delta) AS BIGINT) AS delta
FROM sized
GROUP BY base_id, candidate_id, base_size, candidate_size
UNION ALL
SELECT
  base_id, candidate_id, 40,
  CASE
    WHEN len(base_sizes) <> len(candidate_sizes)
    AND list_product(base_sizes) = list_product(candidate_sizes)
      THEN 'reshaped'
    ELSE 'resized'
  END,
  arg_min(argument, (length(argument), argument)),
  format('[{}]', array_to_string(base_sizes, ',')),
  format('[{}]', array_to_string(candidate_sizes, ',')),
  count(*), list(argument ORDER BY length(argument), argument),
  CAST(sum(delta) AS BIGINT)
FROM (
  SELECT
    p.* REPLACE (
      list_transform(
        p.base_sizes, lambda x, i: x * coalesce(p.base_parts[i], 1)
      ) AS base_sizes,
      list_transform(
        p.candidate_sizes, lambda x, i: x * coalesce(p.candidate_parts[i], 1)
      ) AS candidate_sizes
    )
  FROM paired_arguments AS p
  WHERE p.is_reshaped
)
GROUP BY base_id, candidate_id, base_sizes, candidate_sizes
