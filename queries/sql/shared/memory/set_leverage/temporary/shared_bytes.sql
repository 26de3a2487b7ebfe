-- step: Bytes that two temporary values hold at once: where one ends and
--   another begins, and, in modules with overlapping values, for longer.
-- grain: value, other value, step
WITH overlapping AS MATERIALIZED (
  SELECT o.module_id FROM overlapping_modules() AS o
),
overlapped AS MATERIALIZED (
  SELECT v.*
  FROM space_values AS v
  JOIN overlapping AS o USING (module_id)
  WHERE v.kind = 'temp'
    AND v.start_step IS NOT NULL
),
-- Steps of these between which nothing begins or ends.
pieces AS MATERIALIZED (
  SELECT
    module_id, allocation_id, step,
    lead(step) OVER (
      PARTITION BY module_id, allocation_id ORDER BY step
    ) - 1 AS until_step
  FROM (
    SELECT DISTINCT
      v.module_id, v.allocation_id,
      unnest([v.start_step, v.end_step + 1]) AS step
    FROM overlapped AS v
  )
)
SELECT
  a.module_id, a.allocation_id, b.start_step AS step,
  b.start_step AS until_step, a.value_id AS ending_id,
  b.value_id AS starting_id,
  greatest(a.offset_bytes, b.offset_bytes) AS from_byte,
  least(a.offset_bytes + a.size_bytes, b.offset_bytes + b.size_bytes)
    AS to_byte
FROM space_values AS a
JOIN space_values AS b
  ON b.module_id = a.module_id
  AND b.allocation_id = a.allocation_id
  AND b.start_step = a.end_step
WHERE a.kind = 'temp'
  AND b.value_id <> a.value_id
  AND b.offset_bytes < a.offset_bytes + a.size_bytes
  AND a.offset_bytes < b.offset_bytes + b.size_bytes
  AND a.module_id NOT IN (SELECT o.module_id FROM overlapping AS o)
UNION ALL
-- There they may do so for longer.
SELECT
  a.module_id, a.allocation_id, p.step, p.until_step, a.value_id, b.value_id,
  greatest(a.offset_bytes, b.offset_bytes),
  least(a.offset_bytes + a.size_bytes, b.offset_bytes + b.size_bytes)
FROM pieces AS p
JOIN overlapped AS a
  ON a.module_id = p.module_id
  AND a.allocation_id = p.allocation_id
  AND p.step BETWEEN a.start_step AND a.end_step
JOIN overlapped AS b
  ON b.module_id = p.module_id
  AND b.allocation_id = p.allocation_id
  AND p.step BETWEEN b.start_step AND b.end_step
WHERE a.value_id < b.value_id
  AND b.offset_bytes < a.offset_bytes + a.size_bytes
  AND a.offset_bytes < b.offset_bytes + b.size_bytes
