-- step: Copies of whole arguments with their dimensions in another order, made
--   for TPUs where nothing else reads the argument, and what follows a copy in
--   its bytes, such as the state of a loop. What is placed in the memory of
--   the arguments meanwhile needs memory of its own without the copies. What
--   replaces no argument may not be changed in its bytes, and a copy that
--   takes more is one that padding makes larger.
-- grain: value
WITH ordered AS MATERIALIZED (
  SELECT
    v.module_id, v.color, v.allocation_id, v.kind, v.value_id,
    v.instruction_id, v.opcode, v.element_type, v.dimensions, v.offset_bytes,
    v.size_bytes, v.start_step, v.end_step,
    -- Where a dimension of 1 stands makes no other order.
    list_filter(l.minor, lambda x: l.sides[x + 1] <> '1') AS sides_by_size,
    array_to_string(list_transform(
      list_reverse(l.minor), lambda x: l.sides[x + 1]
    ), ',') AS stored
  FROM arrays AS v
  SEMI JOIN program_traits AS t
    ON t.module_id = v.module_id
    AND t.platform = 'tpu'
  CROSS JOIN LATERAL (
    SELECT
      string_split(v.dimensions, ',') AS sides,
      list_transform(
        string_split(regexp_extract(v.shape, '\]\{([0-9,]+)', 1), ','),
        lambda x: TRY_CAST(x AS BIGINT)
      ) AS minor
  ) AS l
  WHERE v.dimensions LIKE '%,%'
),
-- Of these programs alone: else the uses in all runs are counted.
read_once AS MATERIALIZED (
  SELECT
    u.module_id, u.value_id, min(u.instruction_id) AS instruction_id
  FROM ordered AS p
  JOIN store.value_uses AS u USING (module_id, value_id)
  WHERE p.kind = 'parameter'
  GROUP BY u.module_id, u.value_id
  HAVING count(DISTINCT u.instruction_id) = 1
),
copies AS MATERIALIZED (
  SELECT
    v.module_id, v.color, v.value_id, v.allocation_id, v.offset_bytes,
    v.size_bytes, v.start_step, v.dimensions, v.stored, a.is_replaced,
    a.allocation_id AS argument_id,
    coalesce(
      nullif(e.op_name, ''), 'parameter ' || e.parameter_number
    ) AS argument
  FROM arguments AS a
  JOIN entry_parameters() AS e
    ON e.module_id = a.module_id
    AND e.instruction_id = a.instruction_id
  JOIN ordered AS p
    ON p.module_id = a.module_id
    AND p.value_id = a.value_id
  JOIN read_once AS u
    ON u.module_id = a.module_id
    AND u.value_id = a.value_id
  JOIN ordered AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
    AND v.color = p.color
    AND v.element_type = p.element_type
    AND v.dimensions = p.dimensions
    AND v.sides_by_size <> p.sides_by_size
    AND v.size_bytes <= p.size_bytes
  WHERE v.kind = 'temp'
    AND v.opcode = 'copy'
),
-- Each follows the one before it without a gap.
placed AS (
  SELECT
    c.value_id AS copy_id, v.module_id, v.value_id, v.start_step, v.opcode,
    v.start_step > coalesce(max(v.end_step) OVER (
      PARTITION BY c.module_id, c.value_id
      ORDER BY v.start_step, v.value_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), v.start_step) AS is_apart
  FROM copies AS c
  JOIN ordered AS v
    ON v.module_id = c.module_id
    AND v.allocation_id = c.allocation_id
    AND v.offset_bytes = c.offset_bytes
    AND v.size_bytes = c.size_bytes
    AND v.dimensions = c.dimensions
    AND v.stored = c.stored
    AND v.start_step >= c.start_step
),
following AS MATERIALIZED (
  SELECT
    p.*,
    bool_or(p.is_apart) OVER (
      PARTITION BY p.module_id, p.copy_id ORDER BY p.start_step, p.value_id
    ) AS is_another
  FROM placed AS p
),
changed AS (
  SELECT DISTINCT f.module_id, f.copy_id
  FROM following AS f
  WHERE NOT f.is_another
    AND f.value_id <> f.copy_id
    AND f.opcode NOT IN ('while', 'parameter', 'conditional')
),
-- The last of what is placed in an argument while its copy is changed.
guests AS (
  SELECT
    c.module_id, c.value_id AS copy_id,
    max(v.offset_bytes + v.size_bytes) AS guest_bytes
  FROM copies AS c
  JOIN described_values AS v
    ON v.module_id = c.module_id
    AND v.allocation_id = c.argument_id
    AND v.start_step >= c.start_step
    AND v.dimensions <> c.dimensions
  GROUP BY c.module_id, c.value_id
),
kept AS (
  SELECT
    c.*, least(c.size_bytes, coalesce(g.guest_bytes, 0)) AS guest_bytes,
    row_number() OVER (
      PARTITION BY c.module_id, c.color
      ORDER BY c.size_bytes DESC, c.value_id
    ) AS place
  FROM copies AS c
  LEFT JOIN changed AS w
    ON w.module_id = c.module_id
    AND w.copy_id = c.value_id
  LEFT JOIN guests AS g
    ON g.module_id = c.module_id
    AND g.copy_id = c.value_id
  WHERE c.is_replaced
    OR w.copy_id IS NULL
),
named AS (
  SELECT
    k.module_id, k.color,
    CASE WHEN count(*) = 1 THEN 'copy of ' ELSE 'copies of ' END
      || CASE WHEN count(DISTINCT k.stored) = 1
        THEN string_agg(k.argument, ', ' ORDER BY k.place)
          FILTER (WHERE k.place <= 2)
        ELSE string_agg(
          k.argument || ' as [' || k.stored || ']', ', ' ORDER BY k.place
        ) FILTER (WHERE k.place <= 2) END
      || CASE WHEN count(*) > 2 THEN ' and ' || count(*) - 2 || ' more'
        ELSE '' END
      || ' in another layout'
      || CASE WHEN count(DISTINCT k.stored) = 1
        THEN ': [' || min(k.stored) || ']' ELSE '' END AS subject,
    CAST(sum(k.size_bytes - k.guest_bytes) AS BIGINT) AS part,
    CAST(sum(k.size_bytes) AS BIGINT) AS whole
  FROM kept AS k
  GROUP BY k.module_id, k.color
)
SELECT f.module_id, f.value_id, n.subject, n.part, n.whole
FROM kept AS k
JOIN named AS n
  ON n.module_id = k.module_id
  AND n.color = k.color
JOIN following AS f
  ON f.module_id = k.module_id
  AND f.copy_id = k.value_id
  AND NOT f.is_another
