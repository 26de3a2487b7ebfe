-- title: Live bytes of every temporary allocation
-- question: How many bytes of each arena are live over the schedule?
-- definition: Temporary allocations only. Live bytes are the sum of the sizes
--   of live values, ends inclusive; at steps where one value ends and another
--   begins on the same addresses, they are the union of the live address
--   ranges, so that bytes shared in place count once, even for three or more
--   values; in overlapping_modules they are at every step. Run-length encoded;
--   an arena that is empty at first begins with a stretch of 0.
-- grain: module content, allocation, stretch of steps
-- param run
-- param program
-- column module_id
-- column color
-- column allocation_id
-- column allocation_bytes BIGINT bytes neutral: Size of the allocation.
-- column from_step INTEGER step neutral: First step of the stretch.
-- column to_step INTEGER step neutral: Last step of the stretch.
-- column live_bytes BIGINT bytes neutral: Bytes of the allocation live there.
WITH tenants AS (
  SELECT *
  FROM value_places()
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
),
arenas AS (
  SELECT
    t.module_id, t.color AS space_color, t.allocation_id, t.allocation_bytes,
    max(t.end_step) AS last_step
  FROM tenants AS t
  GROUP BY ALL
),
changes AS (
  SELECT module_id, allocation_id, start_step AS step, size_bytes AS change
  FROM tenants
  UNION ALL
  SELECT module_id, allocation_id, end_step + 1, -size_bytes FROM tenants
  UNION ALL
  SELECT module_id, allocation_id, 0, 0 FROM arenas
),
sums AS (
  SELECT
    module_id, allocation_id, step,
    sum(sum(change)) OVER same_arena AS summed_bytes,
    lead(step) OVER same_arena - 1 AS to_step
  FROM changes
  GROUP BY module_id, allocation_id, step
  WINDOW same_arena AS (PARTITION BY module_id, allocation_id ORDER BY step)
),
meetings AS (
  SELECT DISTINCT a.module_id, a.allocation_id, b.start_step AS step
  FROM tenants AS a
  JOIN tenants AS b
    ON b.module_id = a.module_id
    AND b.allocation_id = a.allocation_id
    AND b.start_step = a.end_step
  WHERE b.value_id <> a.value_id
    AND b.offset_bytes < a.offset_bytes + a.size_bytes
    AND a.offset_bytes < b.offset_bytes + b.size_bytes
  UNION
  SELECT s.module_id, s.allocation_id, s.step
  FROM sums AS s
  JOIN overlapping_modules() AS o USING (module_id)
),
present AS (
  SELECT
    m.module_id, m.allocation_id, m.step, t.offset_bytes AS from_byte,
    t.offset_bytes + t.size_bytes AS to_byte
  FROM meetings AS m
  JOIN tenants AS t
    ON t.module_id = m.module_id
    AND t.allocation_id = m.allocation_id
    AND t.start_step <= m.step
    AND t.end_step >= m.step
),
reached AS (
  SELECT
    module_id, allocation_id, step, from_byte, to_byte,
    coalesce(max(to_byte) OVER (
      PARTITION BY module_id, allocation_id, step
      ORDER BY from_byte, to_byte
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS covered_to
  FROM present
),
unions AS (
  SELECT
    module_id, allocation_id, step,
    sum(greatest(0, to_byte - greatest(from_byte, covered_to))) AS union_bytes
  FROM reached
  GROUP BY module_id, allocation_id, step
)
SELECT
  a.module_id, a.space_color AS color, a.allocation_id, a.allocation_bytes,
  s.step AS from_step, s.to_step,
  CAST(coalesce(u.union_bytes, s.summed_bytes) AS BIGINT) AS live_bytes
FROM sums AS s
JOIN arenas AS a USING (module_id, allocation_id)
LEFT JOIN unions AS u USING (module_id, allocation_id, step)
WHERE s.step <= a.last_step
