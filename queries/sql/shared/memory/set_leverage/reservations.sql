-- step: What less is reserved without a part of the bytes of each set:
--   allocations that go as a whole, and what temporary values need less at
--   their own peak, as XLA packs an arena close to its peak. What else was in
--   an allocation that goes becomes temporary.
-- grain: set
WITH gone AS MATERIALIZED (
  SELECT
    set_id, allocation_id, any_value(allocation_bytes) AS allocation_bytes
  FROM standing_holders
  GROUP BY set_id, allocation_id
  HAVING any_value(is_apart) = 1
    OR NOT bool_or(is_kept)
),
changes AS MATERIALIZED (
  SELECT r.set_id, unnest([r.start_step, r.end_step + 1]) AS step,
    unnest([r.size_bytes, -r.size_bytes]) AS change
  FROM removed_values AS r
  WHERE r.kind = 'temp'
    AND r.start_step <= r.end_step
  UNION ALL
  SELECT set_id, unnest([step, until_step + 1]),
    unnest([-kept_bytes, kept_bytes])
  FROM still_held
  UNION ALL
  SELECT
    h.set_id, unnest([h.start_step, h.end_step + 1]),
    unnest([-h.size_bytes, h.size_bytes])
  FROM standing_holders AS h
  JOIN gone AS g USING (set_id, allocation_id)
  WHERE h.is_other
    AND h.start_step <= h.end_step
),
places AS MATERIALIZED (
  SELECT
    o.set_id, o.part, o.whole, o.module_id, o.space_color
  FROM sets AS o
  SEMI JOIN changes AS c ON c.set_id = o.set_id
),
levels AS (
  SELECT
    set_id, step,
    coalesce(last_value(max(live_bytes) IGNORE NULLS) OVER in_order, 0)
      AS live_bytes,
    sum(coalesce(sum(change), 0)) OVER in_order AS freed_bytes
  FROM (
    SELECT p.set_id, c.from_step AS step, c.temp_bytes AS live_bytes,
      CAST(NULL AS HUGEINT) AS change
    FROM places AS p
    JOIN memory_curves AS c USING (module_id, space_color)
    UNION ALL
    SELECT set_id, step, NULL, change FROM changes
  )
  GROUP BY set_id, step
  WINDOW in_order AS (PARTITION BY set_id ORDER BY step)
),
temporary AS (
  SELECT
    l.set_id,
    max(l.live_bytes)
    - max(l.live_bytes - CAST(l.freed_bytes AS HUGEINT) * p.part // p.whole)
      AS saved_bytes
  FROM levels AS l
  JOIN places AS p USING (set_id)
  GROUP BY l.set_id
),
standing AS (
  SELECT
    g.set_id,
    sum(CAST(g.allocation_bytes AS HUGEINT)) * any_value(o.part)
      // any_value(o.whole) AS saved_bytes
  FROM gone AS g
  JOIN sets AS o USING (set_id)
  GROUP BY g.set_id
)
SELECT
  o.set_id,
  coalesce(t.saved_bytes, 0) + coalesce(s.saved_bytes, 0) AS saved_bytes
FROM sets AS o
LEFT JOIN temporary AS t USING (set_id)
LEFT JOIN standing AS s USING (set_id)
