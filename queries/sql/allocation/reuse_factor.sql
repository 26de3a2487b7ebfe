-- title: Reuse of arenas
-- question: How well is each arena reused over time?
-- definition: Per temporary allocation (arena): reuse_x is the sum of the
--   sizes of its values divided by its size. max_chain is the largest number
--   of values that use the same byte one after the other. busy_ratio is the
--   share of size times steps at which bytes are live.
-- grain: module occurrence, allocation
-- leading: program, space_name, allocation_id, reuse_x, busy_ratio,
--   allocation_bytes, value_count, value_bytes
-- split: programs
-- param run
-- param program
-- param color
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column allocation_id
-- column allocation_bytes BIGINT bytes lower_is_better: Size of the
--   allocation.
-- column value_count BIGINT count neutral: Values placed in it.
-- column value_bytes BIGINT bytes neutral: Sum of their sizes.
-- column reuse_x DOUBLE score higher_is_better: value_bytes divided by the
--   size of the allocation.
-- column max_chain BIGINT count higher_is_better: Most values that use the
--   same byte one after the other.
-- column busy_ratio DOUBLE ratio higher_is_better: Share of size times steps
--   that is live.
WITH tenants AS (
  SELECT *
  FROM value_places()
  WHERE kind = 'temp'
),
sums AS (
  SELECT
    module_id, allocation_id, count(*) AS value_count,
    sum(size_bytes) AS value_bytes
  FROM tenants
  GROUP BY module_id, allocation_id
),
edges AS (
  SELECT module_id, allocation_id, offset_bytes AS at_byte, 1 AS change
  FROM tenants
  WHERE size_bytes > 0
  UNION ALL
  SELECT module_id, allocation_id, offset_bytes + size_bytes, -1
  FROM tenants
  WHERE size_bytes > 0
),
depths AS (
  SELECT
    module_id, allocation_id,
    sum(sum(change)) OVER (
      PARTITION BY module_id, allocation_id ORDER BY at_byte
    ) AS depth
  FROM edges
  GROUP BY module_id, allocation_id, at_byte
),
chains AS (
  SELECT module_id, allocation_id, max(depth) AS max_chain
  FROM depths
  GROUP BY module_id, allocation_id
),
lengths AS (
  SELECT module_id, max(to_step) + 1 AS step_count
  FROM memory_timeline
  GROUP BY module_id
),
used AS (
  SELECT
    module_id, allocation_id,
    sum(CAST(live_bytes AS HUGEINT) * (to_step - from_step + 1))
      AS byte_steps
  FROM arena_timeline()
  GROUP BY module_id, allocation_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  a.allocation_id, a.size_bytes AS allocation_bytes,
  coalesce(s.value_count, 0) AS value_count,
  CAST(coalesce(s.value_bytes, 0) AS BIGINT) AS value_bytes,
  coalesce(s.value_bytes, 0) / nullif(a.size_bytes, 0) AS reuse_x,
  CAST(coalesce(c.max_chain, 0) AS BIGINT) AS max_chain,
  u.byte_steps / nullif(CAST(a.size_bytes AS HUGEINT) * l.step_count, 0)
    AS busy_ratio
FROM selected_memory() AS m
JOIN allocations AS a USING (module_id, color)
LEFT JOIN sums AS s USING (module_id, allocation_id)
LEFT JOIN chains AS c USING (module_id, allocation_id)
LEFT JOIN used AS u USING (module_id, allocation_id)
LEFT JOIN lengths AS l USING (module_id)
WHERE a.kind = 'temp'
ORDER BY
  a.size_bytes DESC, m.program, m.module_number, m.rank, a.allocation_id
