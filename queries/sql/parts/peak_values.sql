-- title: What is live at the peak, byte by byte
-- question: Which value owns which bytes at the step of the live peak?
-- definition: Values whose range holds the peak step of their colour, thread-local ones
--   left out. Every byte belongs to one value only: among those that share it in place
--   to the newest (greatest start_step, then end_step, then value_id). A parameter,
--   constant or live-out counts as a whole allocation: what no value covers is a row
--   with value_id NULL. So owned_bytes of a module and colour add up to its
--   live_peak_bytes.
-- grain: module content, colour, allocation, value
-- needs: memory_profile, placed_values
-- param run
-- param program
-- column module_id
-- column color
-- column peak_step
-- column live_peak_bytes
-- column allocation_id
-- column kind
-- column value_id
-- column instruction_id
-- column instruction
-- column shape_index
-- column shape
-- column offset_bytes
-- column size_bytes
-- column logical_bytes
-- column owned_bytes BIGINT bytes neutral: Bytes of the peak that are its own.
-- column shares_with INTEGER id neutral: The value that owns most of its other bytes,
--   in place; NULL where it owns all of them.
-- column start_step
-- column end_step
WITH live AS (
  SELECT v.*, p.peak_step, p.live_peak_bytes
  FROM placed_values(run := $run, program := $program) AS v
  JOIN memory_profile AS p USING (module_id, color)
  WHERE v.kind <> 'thread_local'
    AND v.start_step <= p.peak_step
    AND v.end_step >= p.peak_step
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
    p.module_id, p.allocation_id, p.from_byte, p.to_byte - p.from_byte AS bytes,
    arg_max(v.value_id, (v.start_step, v.end_step, v.value_id)) AS owner_id
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
    coalesce(sum(o.bytes) FILTER (WHERE o.owner_id = v.value_id), 0) AS owned_bytes,
    arg_max(o.owner_id, (o.bytes, o.owner_id))
      FILTER (WHERE o.owner_id <> v.value_id) AS shares_with
  FROM live AS v
  LEFT JOIN owners AS o
    ON o.module_id = v.module_id
    AND o.allocation_id = v.allocation_id
    AND o.from_byte >= v.offset_bytes
    AND o.from_byte < v.offset_bytes + v.size_bytes
  GROUP BY v.module_id, v.allocation_id, v.value_id
),
rest AS (
  SELECT
    v.module_id, v.color, v.peak_step, v.live_peak_bytes, v.allocation_id, v.kind,
    max(v.allocation_bytes) - sum(o.owned_bytes) AS owned_bytes
  FROM live AS v
  JOIN owned AS o USING (module_id, allocation_id, value_id)
  WHERE v.kind <> 'temp'
  GROUP BY ALL
)
SELECT
  v.module_id, v.color, v.peak_step, v.live_peak_bytes, v.allocation_id, v.kind,
  v.value_id, v.instruction_id, v.instruction, v.shape_index, v.shape,
  v.offset_bytes, v.size_bytes, v.logical_bytes,
  CAST(o.owned_bytes AS BIGINT) AS owned_bytes, o.shares_with,
  v.start_step, v.end_step
FROM live AS v
JOIN owned AS o USING (module_id, allocation_id, value_id)
UNION ALL
SELECT
  r.module_id, r.color, r.peak_step, r.live_peak_bytes, r.allocation_id, r.kind,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  CAST(r.owned_bytes AS BIGINT), NULL, NULL, NULL
FROM rest AS r
WHERE r.owned_bytes > 0
