-- step: What a program without a backward pass computes of what jax.vmap
--   makes, for all iterations of a loop before it, each of which reads its
--   part: all that leads to that has a part for each iteration.
-- grain: loop, value
WITH RECURSIVE mapped_lengths AS (
  SELECT v.module_id, split_part(v.dimensions, ',', 1) AS first_side
  FROM arrays AS v
  JOIN program_traits AS t ON t.module_id = v.module_id
  WHERE v.name LIKE '%vmap(%'
    AND v.kind = 'temp'
    AND v.dimensions LIKE '%,%'
    AND NOT t.has_backward
    AND t.partitions = 1
  GROUP BY v.module_id, split_part(v.dimensions, ',', 1)
),
parts AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.instruction_id, v.dimensions,
    w.trip_count AS length, r.loop_name
  FROM read_stacks AS r
  JOIN arrays AS v USING (module_id, value_id)
  JOIN loops() AS w
    ON w.module_id = r.module_id
    AND w.instruction_id = r.loop_id
  JOIN mapped_lengths AS m
    ON m.module_id = v.module_id
    AND m.first_side = CAST(w.trip_count AS VARCHAR)
    AND m.first_side = split_part(v.dimensions, ',', 1)
  WHERE w.trip_count >= 16
  UNION
  SELECT
    v.module_id, v.value_id, v.instruction_id, v.dimensions, l.length,
    l.loop_name
  FROM parts AS l
  JOIN store.value_uses AS u USING (module_id, instruction_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.value_id = u.value_id
    AND v.kind <> 'parameter'
    -- Of 144,96,4 a first side of 144, or of 13824: a row for each of 96.
    AND list_contains(
      list_transform(
        range(1, 1 + len(string_split(l.dimensions, ','))),
        lambda n: list_product(
          CAST(string_split(l.dimensions, ',')[:n] AS DOUBLE[])
        )
      ) || [CAST(l.length AS DOUBLE)],
      TRY_CAST(split_part(v.dimensions, ',', 1) AS DOUBLE)
    )
),
-- Instructions that make parts, and those of their fusions.
computations_of_parts AS (
  SELECT p.module_id, p.length, c.computation_id
  FROM parts AS p
  JOIN called_computations AS c USING (module_id, instruction_id)
  UNION
  SELECT p.module_id, p.length, c.computation_id
  FROM computations_of_parts AS p
  JOIN scheduled_instructions AS i USING (module_id, computation_id)
  JOIN called_computations AS c USING (module_id, instruction_id)
),
makers AS MATERIALIZED (
  SELECT i.module_id, p.length, i.instruction_id, i.opcode, i.shape
  FROM parts AS p
  JOIN scheduled_instructions AS i USING (module_id, instruction_id)
  UNION
  SELECT i.module_id, p.length, i.instruction_id, i.opcode, i.shape
  FROM computations_of_parts AS p
  JOIN scheduled_instructions AS i USING (module_id, computation_id)
),
mixing AS (
  -- Where another side is as long, parts may be compared with each other.
  SELECT m.module_id, m.length
  FROM makers AS m
  WHERE m.opcode IN ('reverse', 'scatter', 'sort', 'topk')
    OR regexp_matches(m.shape, ',' || m.length || '[,\]]')
  UNION
  SELECT m.module_id, m.length
  FROM makers AS m
  JOIN operands AS e USING (module_id, instruction_id)
  JOIN scheduled_instructions AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
  WHERE m.opcode = 'reduce'
    AND TRY_CAST(regexp_extract(o.shape, '\[(\d+)', 1) AS BIGINT) % m.length
      = 0
    AND regexp_extract(o.shape, '\[(\d+)', 1)
      <> regexp_extract(m.shape, '\[(\d*)', 1)
  UNION
  -- What is computed of all parts and read for each of them, as by a mean.
  SELECT p.module_id, p.length
  FROM parts AS p
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
  ANTI JOIN parts AS o
    ON o.module_id = v.module_id
    AND o.value_id = v.value_id
  JOIN store.value_uses AS w
    ON w.module_id = v.module_id
    AND w.value_id = v.value_id
  SEMI JOIN parts AS r
    ON r.module_id = w.module_id
    AND r.instruction_id = w.instruction_id
)
SELECT p.module_id, p.value_id, p.loop_name, p.length
FROM parts AS p
SEMI JOIN (
  SELECT p.module_id, p.length
  FROM parts AS p
  JOIN arrays AS v USING (module_id, value_id)
  WHERE v.name LIKE '%vmap(%'
) AS f USING (module_id, length)
ANTI JOIN mixing AS m USING (module_id, length)
