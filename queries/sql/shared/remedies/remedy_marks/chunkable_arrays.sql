-- step: Temporary arrays with a part for each example, outside of loops but
--   those that run for every example, that are many times as large as what
--   is given for the examples: in programs on one device that compute
--   forward alone, or keep little for the backward pass, and where nothing
--   more specific is as large. Their names tell of vmap: other operations on
--   a first dimension, such as statistics and scans over time, need not fall
--   into examples. What is computed of them is added up by chunks, too, where
--   nothing but sums over the examples is read of it.
-- grain: value
WITH RECURSIVE lengths AS MATERIALIZED (
  SELECT
    a.module_id,
    TRY_CAST(split_part(a.dimensions, ',', 1) AS BIGINT) AS length,
    sum(v.size_bytes) AS given_bytes
  FROM arguments AS a
  JOIN arrays AS v
    ON v.module_id = a.module_id
    AND v.value_id = a.value_id
  JOIN modules AS m ON m.module_id = a.module_id
  JOIN program_traits AS t ON t.module_id = a.module_id
  -- Such an operation on all examples at once, as on a matrix of all pairs.
  ANTI JOIN (
    SELECT
      module_id, unnest(regexp_extract_all(shape, '[0-9]+')) AS side
    FROM scheduled_instructions
    WHERE is_exact
      AND coalesce(op_name, '') NOT LIKE '%vmap(%'
  ) AS e
    ON e.module_id = a.module_id
    AND e.side = split_part(a.dimensions, ',', 1)
  WHERE a.is_input
    AND a.dimensions LIKE '%,%'
    AND coalesce(m.num_partitions, 1) = 1
    AND (NOT t.has_backward OR t.platform = 'cpu')
  GROUP BY a.module_id, split_part(a.dimensions, ',', 1)
  HAVING length >= 16
),
-- A Jacobian for each example is of two jax.vmap.
jacobians AS (
  SELECT DISTINCT module_id
  FROM arrays
  WHERE regexp_matches(name, 'vmap\(vmap\((jvp|transpose)\(')
),
mapped AS MATERIALIZED (
  SELECT v.module_id, v.value_id
  FROM arrays AS v
  LEFT JOIN jacobians AS j USING (module_id)
  WHERE v.name LIKE '%vmap(%'
    -- They may be columns of a Jacobian, which are there for no example.
    AND (
      j.module_id IS NOT NULL
      OR NOT regexp_matches(v.name, 'vmap\((jvp|transpose)\(')
    )
),
made_of_mapped AS MATERIALIZED (
  SELECT module_id, value_id FROM mapped
  UNION
  SELECT v.module_id, v.value_id
  FROM mapped AS m
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
  WHERE v.name = ''
),
mapped_arrays AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.size_bytes, v.start_step, v.end_step,
    list_transform(
      string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sides
  FROM arrays AS v
  JOIN scheduled_instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  SEMI JOIN lengths AS l ON l.module_id = v.module_id
  SEMI JOIN made_of_mapped AS p
    ON p.module_id = v.module_id
    AND p.value_id = v.value_id
  ANTI JOIN argument_sizes AS a
    ON a.module_id = v.module_id
    AND a.sizes = list_sort(string_split(v.dimensions, ','))
  WHERE v.kind = 'temp'
    AND v.dimensions LIKE '%,%'
    AND (
      c.kind = 'entry'
      OR strpos(v.name, 'vmap(') BETWEEN 1 AND strpos(v.name, '/while/body')
    )
    AND v.opcode NOT IN ('while', 'conditional', 'call')
),
collected AS MATERIALIZED (
  SELECT c.module_id, c.value_id, c.size_bytes
  FROM mapped_arrays AS c
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN scheduled_instructions AS r
    ON r.module_id = u.module_id
    AND r.instruction_id = u.instruction_id
  WHERE r.op_name <> ''
    AND r.op_name NOT LIKE '%vmap(%'
  GROUP BY c.module_id, c.value_id, c.size_bytes
),
-- What is computed of these outside of loops, with the examples in it.
derived AS MATERIALIZED (
  SELECT c.module_id, l.length, c.value_id
  FROM collected AS c
  JOIN mapped_arrays AS m USING (module_id, value_id)
  JOIN lengths AS l
    ON l.module_id = c.module_id
    AND len(list_filter(m.sides, lambda x: x % l.length = 0)) > 0
  UNION
  SELECT d.module_id, d.length, v.value_id
  FROM derived AS d
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
    AND len(list_filter(
      string_split(v.dimensions, ','),
      lambda x: TRY_CAST(x AS BIGINT) % d.length = 0
    )) > 0
  JOIN scheduled_instructions AS s
    ON s.module_id = v.module_id
    AND s.instruction_id = v.instruction_id
  JOIN computations AS c
    ON c.module_id = s.module_id
    AND c.computation_id = s.computation_id
  WHERE v.kind = 'temp'
    AND c.kind = 'entry'
    AND s.opcode NOT IN ('while', 'conditional', 'call')
),
-- Programs of which all else that reads them adds up the examples.
summed AS MATERIALIZED (
  SELECT r.module_id, r.length
  FROM (
    SELECT
      d.module_id, d.length, u.instruction_id,
      bool_or(o.value_id IS NOT NULL) AS is_passed_on,
      bool_or(s.opcode IN ('reduce', 'dot') OR f.module_id IS NOT NULL)
        AS is_reducing,
      coalesce(max(v.size_bytes) FILTER (WHERE o.value_id IS NULL), 0)
        AS result_bytes
    FROM derived AS d
    JOIN store.value_uses AS u USING (module_id, value_id)
    JOIN scheduled_instructions AS s
      ON s.module_id = u.module_id
      AND s.instruction_id = u.instruction_id
    LEFT JOIN (
      SELECT DISTINCT c.module_id, c.instruction_id
      FROM called_computations AS c
      JOIN scheduled_instructions AS i USING (module_id, computation_id)
      WHERE i.opcode IN ('reduce', 'dot')
    ) AS f
      ON f.module_id = u.module_id
      AND f.instruction_id = u.instruction_id
    LEFT JOIN arrays AS v
      ON v.module_id = u.module_id
      AND v.instruction_id = u.instruction_id
    LEFT JOIN derived AS o
      ON o.module_id = v.module_id
      AND o.value_id = v.value_id
      AND o.length = d.length
    GROUP BY d.module_id, d.length, u.instruction_id
  ) AS r
  JOIN (
    SELECT module_id, sum(size_bytes) AS size_bytes
    FROM collected
    GROUP BY module_id
  ) AS c USING (module_id)
  GROUP BY r.module_id, r.length, c.size_bytes
  HAVING bool_and(r.is_passed_on OR r.is_reducing)
    AND 8 * sum(r.result_bytes) FILTER (WHERE NOT r.is_passed_on)
      <= c.size_bytes
),
inside AS MATERIALIZED (
  FROM mapped_arrays
  UNION
  SELECT
    v.module_id, v.value_id, v.size_bytes, v.start_step, v.end_step,
    list_transform(
      string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    )
  FROM derived AS d
  SEMI JOIN summed AS s USING (module_id, length)
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
  JOIN lengths AS l
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
  LEFT JOIN jacobians AS j ON j.module_id = b.module_id
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
    FROM collected
    GROUP BY module_id
  ) AS c
    ON c.module_id = b.module_id
  LEFT JOIN summed AS s
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
