-- step: Arrays that grow with the batch, or with a part of it of which a loop
--   sums the gradients (is_micro). Most bytes of batch_arrays need a dimension
--   that is this size, or a multiple of it that no weight has and no input
--   behind its first dimension: a grid that observations lie on is no batch.
--   What saves a part for each iteration has the iterations as its first
--   dimension. For convolutions a TPU's compiler moves space into the batch,
--   which is then a multiple of it. Where the loss compares all pairs of
--   examples, with a softmax or sigmoid over the batch, half of it is another
--   loss: no array counts.
-- grain: value
WITH sides AS MATERIALIZED (
  SELECT
    a.module_id,
    list_distinct(flatten(list(list_transform(
      CASE WHEN a.is_input THEN string_split(a.dimensions, ',')[2:]
        ELSE string_split(a.dimensions, ',') END,
      lambda x: TRY_CAST(x AS BIGINT)
    )))) AS taken,
    any_value(t.partitions) AS partitions,
    bool_or(t.platform = 'tpu' AND t.has_windows) AS is_space_in_batch
  FROM arguments AS a
  JOIN program_traits AS t ON t.module_id = a.module_id
  WHERE a.dimensions <> ''
  GROUP BY a.module_id
),
stacks AS MATERIALIZED (
  SELECT DISTINCT s.module_id, s.value_id
  FROM saved_arrays AS s
  JOIN loop_stacks AS l
    ON l.module_id = s.module_id
    AND l.allocation_id = s.allocation_id
    AND l.offset_bytes = s.offset_bytes
    AND l.dimensions = s.dimensions
),
sized AS MATERIALIZED (
  SELECT
    b.module_id, b.value_id, b.size_bytes, b.kind, c.kind AS computation_kind,
    CASE WHEN s.value_id IS NULL THEN b.sizes ELSE b.sizes[2:] END AS sizes
  FROM batch_arrays AS b
  LEFT JOIN stacks AS s USING (module_id, value_id)
  LEFT JOIN scheduled_instructions AS i
    ON i.module_id = b.module_id
    AND i.instruction_id = b.instruction_id
  LEFT JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  WHERE NOT b.is_larger
),
-- Loops of the program itself that change arrays of the dimensions of weights:
-- sums of gradients where they read weights beside them, or else the weights.
summing AS MATERIALIZED (
  SELECT
    w.module_id, w.trip_count,
    bool_or(r.instruction_id <> w.instruction_id) AS is_micro
  FROM loops() AS w
  JOIN scheduled_instructions AS i
    ON i.module_id = w.module_id
    AND i.instruction_id = w.instruction_id
  JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
    AND c.kind = 'entry'
  JOIN loop_arrays AS l
    ON l.module_id = w.module_id
    AND l.loop_id = w.instruction_id
  JOIN arguments AS a
    ON a.module_id = l.module_id
    AND a.dimensions = l.dimensions
    AND a.is_replaced
  JOIN store.value_positions AS p
    ON p.module_id = w.module_id
    AND p.instruction_id = w.instruction_id
  JOIN arrays AS r
    ON r.module_id = p.module_id
    AND r.value_id = p.value_id
    AND r.dimensions = l.dimensions
  WHERE w.trip_count > 1
    AND l.dimensions LIKE '%,%'
    -- A part of each array is of one iteration alone, as gradients of a layer.
    AND split_part(l.dimensions, ',', 1) <> CAST(w.trip_count AS VARCHAR)
  GROUP BY w.module_id, w.trip_count
),
-- The caller may give the parts of a batch one by one.
seconds AS MATERIALIZED (
  SELECT
    a.module_id,
    min(TRY_CAST(split_part(a.dimensions, ',', 2) AS BIGINT)) AS size
  FROM arguments AS a
  WHERE a.has_examples
  GROUP BY a.module_id
  HAVING count(DISTINCT split_part(a.dimensions, ',', 2)) = 1
),
parts AS (
  SELECT b.module_id, b.batch AS size, FALSE AS is_micro, FALSE AS is_part
  FROM batch_sizes AS b
  UNION
  -- Inputs may be whole on each device, of which it computes its part.
  SELECT b.module_id, b.batch // d.partitions, FALSE, FALSE
  FROM batch_sizes AS b
  JOIN sides AS d USING (module_id)
  WHERE d.partitions > 1
    AND b.batch % d.partitions = 0
  UNION
  SELECT
    b.module_id,
    CASE b.batch WHEN s.trip_count THEN n.size
      ELSE b.batch // s.trip_count END,
    s.is_micro, TRUE
  FROM batch_sizes AS b
  JOIN summing AS s USING (module_id)
  LEFT JOIN seconds AS n USING (module_id)
  WHERE b.batch % s.trip_count = 0
),
shares AS (
  SELECT
    p.module_id, p.size, p.is_micro, p.is_part,
    sum(v.size_bytes) FILTER (
      WHERE v.sizes[1] = p.size
        OR (
          d.is_space_in_batch
          AND len(v.sizes) >= 4
          AND v.sizes[1] % p.size = 0
        )
        OR len(list_filter(
          v.sizes,
          lambda x: x % p.size = 0
            AND (
              (p.is_part AND x = p.size) OR NOT list_contains(d.taken, x)
            )
            -- What a few examples make on several devices is no weight.
            AND (d.partitions = 1 OR x % d.partitions > 0
              OR x // d.partitions < 8
              OR NOT list_contains(d.taken, x // d.partitions))
        )) > 0
    ) AS grown_bytes,
    sum(v.size_bytes) AS size_bytes
  FROM parts AS p
  JOIN sized AS v USING (module_id)
  JOIN sides AS d USING (module_id)
  WHERE p.size > 1
    AND p.size % 2 = 0
    AND (NOT p.is_micro OR v.computation_kind <> 'entry')
  GROUP BY p.module_id, p.size, p.is_micro, p.is_part
),
chosen AS (
  SELECT s.module_id, arg_min(s.is_micro, s.is_part) AS is_micro
  FROM shares AS s
  WHERE 2 * s.grown_bytes >= s.size_bytes
  GROUP BY s.module_id
),
compared AS MATERIALIZED (
  SELECT DISTINCT e.module_id
  FROM (
    SELECT
      i.module_id,
      regexp_extract(i.shape, '\[(\d+,\d+)\]', 1) AS dimensions
    FROM scheduled_instructions AS i
    WHERE i.opcode IN ('exponential', 'logistic')
  ) AS e
  JOIN batch_sizes AS b USING (module_id)
  JOIN sides AS d USING (module_id)
  SEMI JOIN scheduled_instructions AS p
    ON p.module_id = e.module_id
    AND contains(p.op_name, 'dot_general')
    AND regexp_extract(p.shape, '\[(\d+,\d+)\]', 1) = e.dimensions,
  LATERAL (
    SELECT list_transform(
      string_split(e.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sizes
  ) AS n
  WHERE e.dimensions <> ''
    AND n.sizes[2] IN (b.batch, b.batch * d.partitions)
    AND n.sizes[1] > 1
    AND (n.sizes[1] % b.batch = 0 OR b.batch % n.sizes[1] = 0)
    AND NOT list_contains(d.taken, n.sizes[2])
)
SELECT v.module_id, v.value_id, c.is_micro
FROM sized AS v
JOIN chosen AS c USING (module_id)
ANTI JOIN compared AS n ON n.module_id = v.module_id
WHERE NOT c.is_micro
  OR (v.kind = 'temp' AND v.computation_kind <> 'entry')
UNION
SELECT b.module_id, b.value_id, FALSE
FROM batch_arrays AS b
ANTI JOIN compared AS n ON n.module_id = b.module_id
WHERE b.is_larger
