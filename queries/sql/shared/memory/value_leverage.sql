-- title: Leverage of every value
-- question: How high is the live peak without this value?
-- definition: The leverage as peak_leverage defines it, for values live at the
--   peak whose removal can lower it; removing any other value does not change
--   the peak.
-- grain: module content, allocation, value
-- param run
-- param program
-- column module_id
-- column color
-- column allocation_id
-- column value_id
-- column live_peak_bytes
-- column new_peak_bytes
-- column new_peak_step
-- column leverage_bytes BIGINT bytes higher_is_better: Fall of the live peak.
WITH placed AS (
  SELECT
    *,
    count(*) OVER same_allocation AS tenant_count,
    kind NOT IN ('temp', 'thread_local')
      AND max(start_step) OVER same_allocation IS NULL AS is_standing
  FROM value_places()
  WINDOW same_allocation AS (PARTITION BY module_id, allocation_id)
),
curves AS (
  SELECT DISTINCT
    t.module_id, t.color AS space_color, m.peak_step, m.live_peak_bytes,
    t.from_step, t.to_step, t.live_bytes
  FROM selected_memory() AS m
  JOIN memory_timeline AS t USING (module_id, color)
),
peaks AS (
  SELECT
    module_id, space_color, peak_step, live_peak_bytes,
    max(to_step) AS last_step
  FROM curves
  GROUP BY module_id, space_color, peak_step, live_peak_bytes
),
-- A standing allocation without any other value is held from 0 to the end.
removed AS (
  SELECT
    v.module_id, p.space_color, v.allocation_id, v.value_id, v.kind,
    v.offset_bytes, v.size_bytes, p.peak_step, p.live_peak_bytes,
    CASE WHEN v.kind = 'temp' THEN v.size_bytes ELSE v.allocation_bytes END
      AS freed,
    CASE WHEN v.is_standing THEN 0 ELSE v.start_step END AS first_step,
    CASE WHEN v.is_standing THEN p.last_step ELSE v.end_step END AS last_step
  FROM placed AS v
  JOIN peaks AS p
    ON p.module_id = v.module_id
    AND p.space_color = v.color
  WHERE v.kind <> 'thread_local'
    AND (v.kind <> 'temp' OR v.size_bytes > 0)
    AND (
      p.peak_step BETWEEN v.start_step AND v.end_step
      OR (v.is_standing AND v.tenant_count = 1)
    )
),
-- Steps in between, where others may keep some of its bytes, too.
met AS (
  SELECT r.module_id, r.value_id, v.start_step AS step
  FROM removed AS r
  JOIN overlapping_modules() AS o USING (module_id)
  JOIN placed AS v USING (module_id, allocation_id)
  WHERE v.start_step BETWEEN r.first_step AND r.last_step
  UNION
  SELECT r.module_id, r.value_id, greatest(c.from_step, r.first_step)
  FROM removed AS r
  JOIN overlapping_modules() AS o USING (module_id)
  JOIN curves AS c USING (module_id, space_color)
  WHERE c.from_step <= r.last_step
    AND c.to_step >= r.first_step
),
shared AS (
  SELECT
    r.module_id, r.value_id, r.allocation_id, e.step,
    greatest(r.offset_bytes, v.offset_bytes) AS from_byte,
    least(r.offset_bytes + r.size_bytes, v.offset_bytes + v.size_bytes)
      AS to_byte
  FROM removed AS r
  JOIN (
    SELECT module_id, value_id, first_step AS step FROM removed
    UNION
    SELECT module_id, value_id, last_step FROM removed
    UNION
    SELECT module_id, value_id, step FROM met
  ) AS e USING (module_id, value_id)
  JOIN placed AS v
    ON v.module_id = r.module_id
    AND v.allocation_id = r.allocation_id
    AND v.value_id <> r.value_id
    AND e.step BETWEEN v.start_step AND v.end_step
    AND v.offset_bytes < r.offset_bytes + r.size_bytes
    AND r.offset_bytes < v.offset_bytes + v.size_bytes
  WHERE r.kind = 'temp'
),
reached AS (
  SELECT
    *,
    coalesce(max(to_byte) OVER (
      PARTITION BY module_id, allocation_id, value_id, step
      ORDER BY from_byte, to_byte
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS covered_to
  FROM shared
),
kept AS (
  SELECT
    module_id, allocation_id, value_id, step,
    sum(greatest(0, to_byte - greatest(from_byte, covered_to))) AS kept_bytes
  FROM reached
  GROUP BY module_id, allocation_id, value_id, step
),
levels AS (
  -- Steps at which the value is not live.
  SELECT
    r.module_id, r.space_color, r.allocation_id, r.value_id, c.live_bytes,
    CASE
      WHEN c.from_step < r.first_step THEN c.from_step
      ELSE greatest(c.from_step, r.last_step + 1)
    END AS step
  FROM removed AS r
  JOIN curves AS c USING (module_id, space_color)
  WHERE c.from_step < r.first_step
    OR c.to_step > r.last_step
  UNION ALL
  -- Steps at which it is.
  SELECT
    r.module_id, r.space_color, r.allocation_id, r.value_id,
    c.live_bytes - r.freed,
    greatest(c.from_step, r.first_step)
  FROM removed AS r
  JOIN curves AS c USING (module_id, space_color)
  WHERE c.from_step <= r.last_step
    AND c.to_step >= r.first_step
  UNION ALL
  -- Steps at which others keep some of its bytes.
  SELECT
    r.module_id, r.space_color, r.allocation_id, r.value_id,
    c.live_bytes - r.freed + k.kept_bytes, k.step
  FROM removed AS r
  JOIN kept AS k USING (module_id, allocation_id, value_id)
  JOIN curves AS c
    ON c.module_id = r.module_id
    AND c.space_color = r.space_color
    AND k.step BETWEEN c.from_step AND c.to_step
  UNION ALL
  -- Steps at which others hold its parameter, constant or live-out allocation.
  SELECT
    r.module_id, r.space_color, r.allocation_id, r.value_id, c.live_bytes,
    greatest(c.from_step, r.first_step, v.start_step)
  FROM removed AS r
  JOIN placed AS v
    ON v.module_id = r.module_id
    AND v.allocation_id = r.allocation_id
    AND v.value_id <> r.value_id
    AND v.start_step <= r.last_step
    AND v.end_step >= r.first_step
  JOIN curves AS c
    ON c.module_id = r.module_id
    AND c.space_color = r.space_color
    AND c.from_step <= least(r.last_step, v.end_step)
    AND c.to_step >= greatest(r.first_step, v.start_step)
  WHERE r.kind <> 'temp'
),
remaining AS (
  SELECT
    module_id, space_color, allocation_id, value_id,
    max(live_bytes) AS new_peak_bytes,
    arg_max(step, (live_bytes, -step)) AS new_step
  FROM levels
  GROUP BY module_id, space_color, allocation_id, value_id
)
SELECT
  r.module_id, r.space_color AS color, r.allocation_id, r.value_id,
  p.live_peak_bytes,
  CAST(r.new_peak_bytes AS BIGINT) AS new_peak_bytes,
  r.new_step AS new_peak_step,
  CAST(p.live_peak_bytes - r.new_peak_bytes AS BIGINT) AS leverage_bytes
FROM remaining AS r
JOIN peaks AS p USING (module_id, space_color)
