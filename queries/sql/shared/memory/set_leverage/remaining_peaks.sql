-- step: The peak that remains. It is at least what remains at the step of the
--   old one: lower stretches of the curve cannot hold it, and count as 0.
-- grain: set
WITH bounds AS (
  SELECT
    o.set_id, o.module_id, o.space_color,
    arg_max(f.freed_bytes, f.step) AS freed_bytes
  FROM sets AS o
  JOIN set_curves AS f
    ON f.set_id = o.set_id
    AND f.step <= o.peak_step
  GROUP BY o.set_id, o.module_id, o.space_color
  HAVING arg_max(f.freed_bytes, f.step) > 0
),
steps AS (
  SELECT
    b.set_id, c.from_step AS step, NULL AS freed_bytes,
    CASE WHEN c.live_bytes >= l.live_peak_bytes - b.freed_bytes
      THEN c.live_bytes ELSE 0 END AS live_bytes
  FROM bounds AS b
  JOIN (
    SELECT DISTINCT module_id, space_color, live_peak_bytes
    FROM selected_spaces
  ) AS l USING (module_id, space_color)
  JOIN memory_curves AS c
    ON c.module_id = b.module_id
    AND c.space_color = b.space_color
    AND greatest(c.live_bytes, c.bytes_before)
      >= l.live_peak_bytes - b.freed_bytes
  UNION ALL
  SELECT DISTINCT b.set_id, c.last_step + 1, NULL, 0
  FROM bounds AS b
  JOIN memory_curves AS c USING (module_id, space_color)
  UNION ALL
  SELECT f.set_id, f.step, f.freed_bytes, NULL
  FROM set_curves AS f
  JOIN bounds AS b USING (set_id)
),
levels AS (
  SELECT
    set_id, step,
    coalesce(last_value(max(live_bytes) IGNORE NULLS) OVER in_order, 0)
      AS live_bytes,
    coalesce(last_value(max(freed_bytes) IGNORE NULLS) OVER in_order, 0)
      AS freed_bytes
  FROM steps
  GROUP BY set_id, step
  WINDOW in_order AS (PARTITION BY set_id ORDER BY step)
)
SELECT
  l.set_id, max(l.live_bytes - l.freed_bytes) AS new_peak,
  arg_max(l.step, (l.live_bytes - l.freed_bytes, -l.step)) AS new_step,
  max(l.live_bytes - CAST(l.freed_bytes AS HUGEINT) * o.part // o.whole)
    AS part_peak
FROM levels AS l
JOIN sets AS o USING (set_id)
GROUP BY l.set_id
