-- title: Values live at the peak, byte by byte
-- question: Which value owns which bytes at the step of the live peak?
-- definition: Values whose live range contains the peak step of their memory
--   space, thread-local ones left out. Every byte belongs to one value: of
--   those that share it in place, the newest (greatest start_step, then
--   value_id). A parameter, constant or live-out counts as a whole allocation
--   while one of its values is live, and at every step if none has a live
--   range; bytes that no value covers are a row with value_id NULL. So
--   owned_bytes of a module and memory space add up to live_peak_bytes.
-- grain: module content, memory space, allocation, value
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column color
-- column peak_step
-- column live_peak_bytes
-- column allocation_id
-- column kind
-- column value_id
-- column instruction_id
-- column shape_index
-- column shape
-- column offset_bytes
-- column size_bytes
-- column logical_bytes
-- column owned_bytes BIGINT bytes neutral: Bytes of the peak that it owns.
-- column padding_bytes BIGINT bytes neutral: Bytes that it owns beyond its
--   first logical_bytes.
-- column shares_with INTEGER id neutral: Value that owns most of its other
--   bytes; NULL if it owns all of them.
-- column start_step
-- column end_step
WITH peaks AS (
  SELECT p.module_id, p.color AS space_color, p.peak_step, p.live_peak_bytes
  FROM selected_contents() AS m
  JOIN memory_profile AS p USING (module_id)
  WHERE p.peak_step IS NOT NULL
),
placed AS (
  SELECT
    *,
    kind <> 'temp' AND max(start_step) OVER (
      PARTITION BY module_id, allocation_id
    ) IS NULL AS is_standing
  FROM value_places()
  WHERE kind <> 'thread_local'
),
live AS (
  SELECT v.*, p.peak_step, p.live_peak_bytes
  FROM placed AS v
  JOIN peaks AS p
    ON p.module_id = v.module_id
    AND p.space_color = v.color
  WHERE v.is_standing
    OR p.peak_step BETWEEN v.start_step AND v.end_step
),
cuts AS (
  SELECT module_id, allocation_id, offset_bytes AS from_byte FROM live
  UNION
  SELECT module_id, allocation_id, offset_bytes + size_bytes FROM live
),
pieces AS (
  SELECT
    module_id, allocation_id, from_byte,
    lead(from_byte) OVER (
      PARTITION BY module_id, allocation_id ORDER BY from_byte
    ) AS to_byte
  FROM cuts
),
owners AS (
  SELECT
    p.module_id, p.allocation_id, p.from_byte, p.to_byte,
    arg_max(v.value_id, (coalesce(v.start_step, 0), v.value_id)) AS owner_id
  FROM pieces AS p
  JOIN live AS v
    ON v.module_id = p.module_id
    AND v.allocation_id = p.allocation_id
    AND v.offset_bytes <= p.from_byte
    AND v.offset_bytes + v.size_bytes > p.from_byte
  GROUP BY p.module_id, p.allocation_id, p.from_byte, p.to_byte
),
owned AS (
  SELECT
    v.module_id, v.allocation_id, v.value_id,
    coalesce(sum(o.to_byte - o.from_byte)
      FILTER (WHERE o.owner_id = v.value_id), 0) AS owned_bytes,
    coalesce(sum(
      greatest(0, o.to_byte
        - greatest(o.from_byte, v.offset_bytes + v.logical_bytes))
    ) FILTER (WHERE o.owner_id = v.value_id), 0) AS padding_bytes,
    arg_max(o.owner_id, (o.to_byte - o.from_byte, o.owner_id))
      FILTER (WHERE o.owner_id <> v.value_id) AS shares_with
  FROM live AS v
  LEFT JOIN owners AS o
    ON o.module_id = v.module_id
    AND o.allocation_id = v.allocation_id
    AND o.from_byte >= v.offset_bytes
    AND o.from_byte < v.offset_bytes + v.size_bytes
  GROUP BY v.module_id, v.allocation_id, v.value_id
),
whole AS (
  SELECT a.module_id, a.allocation_id, sum(o.owned_bytes) AS covered_bytes
  FROM allocations AS a
  JOIN owned AS o USING (module_id, allocation_id)
  GROUP BY a.module_id, a.allocation_id
),
rest AS (
  SELECT
    a.module_id, p.space_color, p.peak_step, p.live_peak_bytes,
    a.allocation_id,
    a.kind, a.size_bytes - coalesce(w.covered_bytes, 0) AS owned_bytes
  FROM peaks AS p
  JOIN allocations AS a
    ON a.module_id = p.module_id
    AND a.color = p.space_color
  LEFT JOIN whole AS w
    ON w.module_id = a.module_id
    AND w.allocation_id = a.allocation_id
  LEFT JOIN (
    SELECT DISTINCT module_id, allocation_id FROM placed WHERE NOT is_standing
  ) AS r
    ON r.module_id = a.module_id
    AND r.allocation_id = a.allocation_id
  WHERE a.kind NOT IN ('temp', 'thread_local')
    AND (w.allocation_id IS NOT NULL OR r.allocation_id IS NULL)
)
SELECT
  v.module_id, v.color, v.peak_step, v.live_peak_bytes, v.allocation_id,
  v.kind, v.value_id, v.instruction_id, v.shape_index, v.shape,
  v.offset_bytes, v.size_bytes, v.logical_bytes,
  CAST(o.owned_bytes AS BIGINT) AS owned_bytes,
  CAST(o.padding_bytes AS BIGINT) AS padding_bytes, o.shares_with,
  v.start_step, v.end_step
FROM live AS v
JOIN owned AS o USING (module_id, allocation_id, value_id)
UNION ALL
SELECT
  r.module_id, r.space_color, r.peak_step, r.live_peak_bytes, r.allocation_id,
  r.kind, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  CAST(r.owned_bytes AS BIGINT), 0, NULL, NULL, NULL
FROM rest AS r
WHERE r.owned_bytes > 0
