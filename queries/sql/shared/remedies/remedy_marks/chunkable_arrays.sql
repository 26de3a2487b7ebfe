-- step: Temporary arrays with a part for each example that are many times as
--   large as what is given for the examples, where nothing more specific is
--   as large. What is computed of them is added up by chunks, too
--   (summed_arrays).
-- grain: value
WITH inside AS MATERIALIZED (
  FROM mapped_arrays
  UNION
  SELECT
    v.module_id, v.value_id, v.size_bytes, v.start_step, v.end_step,
    list_transform(
      string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    )
  FROM summed_arrays AS d
  JOIN arrays AS v USING (module_id, value_id)
),
-- A side of another argument has its own meaning, multiple or not.
sides_given AS MATERIALIZED (
  SELECT
    a.module_id,
    flatten(list(list_transform(
      string_split(a.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ))) AS sides
  FROM arguments AS a
  WHERE a.dimensions <> ''
  GROUP BY a.module_id
),
held AS MATERIALIZED (
  SELECT
    l.module_id, l.length, l.given_bytes, i.value_id, i.size_bytes, i.sides,
    i.start_step, i.end_step
  FROM inside AS i
  JOIN sides_given AS g ON g.module_id = i.module_id
  JOIN example_lengths AS l
    ON l.module_id = i.module_id
    AND len(list_filter(
      i.sides, lambda x: x = l.length
        OR (
          x > l.length
          AND x % l.length = 0
          AND NOT list_contains(g.sides, x)
        )
    )) > 0
),
best AS (
  SELECT
    h.module_id, h.length, sum(h.size_bytes) AS held_bytes,
    min(h.sides[1]) AS least_side, list(h.sides[1]) AS first_sides,
    row_number() OVER (
      PARTITION BY h.module_id ORDER BY sum(h.size_bytes) DESC, h.length DESC
    ) AS place
  FROM held AS h
  GROUP BY h.module_id, h.length, h.given_bytes
  HAVING sum(h.size_bytes) >= 8 * h.given_bytes
),
specific AS (
  SELECT module_id, value_id FROM shaped_arrays
  UNION
  SELECT module_id, value_id FROM real_spectra
  UNION
  SELECT module_id, value_id FROM product_chains
  UNION
  SELECT module_id, value_id FROM kept_stacks
  UNION
  SELECT module_id, value_id FROM histories
  UNION
  SELECT module_id, value_id FROM result_arrays
),
others AS (
  SELECT s.module_id, sum(v.size_bytes) AS size_bytes
  FROM specific AS s
  JOIN arrays AS v USING (module_id, value_id)
  GROUP BY s.module_id
),
counted AS (
  SELECT
    b.*,
    CASE
      WHEN j.module_id IS NULL
        AND b.least_side BETWEEN 2 AND b.length - 1
        AND len(list_filter(
          b.first_sides, lambda x: x % b.least_side <> 0
        )) = 0 THEN b.least_side
      ELSE b.length
    END AS mapped_length
  FROM best AS b
  LEFT JOIN jacobian_programs AS j ON j.module_id = b.module_id
  WHERE b.place = 1
),
live AS (
  SELECT h.module_id, h.length, h.value_id, sum(o.size_bytes) AS live_bytes
  FROM held AS h
  JOIN held AS o
    ON o.module_id = h.module_id
    AND o.length = h.length
    AND h.start_step BETWEEN o.start_step AND o.end_step
  GROUP BY h.module_id, h.length, h.value_id
),
priced AS (
  SELECT
    b.module_id, b.length, b.held_bytes, b.mapped_length,
    greatest(1, b.mapped_length // 16) AS chunk,
    max(l.live_bytes) AS live_bytes,
    CASE WHEN any_value(s.module_id) IS NULL
      THEN coalesce(any_value(c.size_bytes), 0)
      ELSE 0
    END AS collected_bytes
  FROM counted AS b
  JOIN live AS l
    ON l.module_id = b.module_id
    AND l.length = b.length
  LEFT JOIN (
    SELECT module_id, sum(size_bytes) AS size_bytes
    FROM collected_arrays
    GROUP BY module_id
  ) AS c
    ON c.module_id = b.module_id
  LEFT JOIN summed_arrays AS s
    ON s.module_id = b.module_id
    AND s.length = b.length
  GROUP BY b.module_id, b.length, b.held_bytes, b.mapped_length
)
SELECT
  h.module_id, h.value_id,
  CASE b.mapped_length
    WHEN b.length THEN 'values of all ' || b.length || ' examples'
    ELSE 'values of all ' || b.mapped_length || ' that jax.vmap maps over'
  END AS subject,
  CAST(greatest(
    0, b.live_bytes * (b.mapped_length - b.chunk) // b.mapped_length
      - b.collected_bytes
  ) AS BIGINT) AS part,
  CAST(b.live_bytes AS BIGINT) AS whole, b.chunk
FROM held AS h
JOIN priced AS b
  ON b.module_id = h.module_id
  AND b.length = h.length
LEFT JOIN others AS o ON o.module_id = h.module_id
WHERE coalesce(o.size_bytes, 0) * 8 < b.held_bytes
