-- title: Fragmentation by cause
-- question: Which bytes of each temporary allocation are in use at its peak,
--   and why are the others unused?
-- definition: At the first step with the most live bytes, every byte of a
--   temporary allocation is one of: live (within the first logical_bytes of
--   the newest value that covers it), slot_padding (beyond them), scoped
--   (scoped memory of the TPU operation that runs, or bytes that never hold a
--   value and are scoped memory of such an operation at another step),
--   time_hole (covered by values at other steps only), alignment_gap (never
--   covered, in a gap shorter than the alignment before the next value) or
--   never_used. Scoped memory (scoped_memory) is recognised if a memory space
--   has one arena. The alignment is the largest power of two that divides all
--   offsets. The parts add up to the size of the allocation.
-- grain: module occurrence, allocation, part
-- leading: program, space_name, allocation_id, allocation_bytes, part,
--   part_bytes, part_ratio
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
-- column step INTEGER step neutral: First step with the most live bytes.
-- column part VARCHAR name neutral: live, slot_padding, scoped, time_hole,
--   alignment_gap or never_used.
-- column part_bytes BIGINT bytes neutral: Bytes of this part.
-- column part_ratio DOUBLE ratio neutral: Share of the allocation.
WITH arenas AS (
  SELECT
    a.module_id, a.allocation_id, a.color AS space_color,
    a.size_bytes AS allocation_bytes,
    arg_max(t.from_step, (t.live_bytes, -t.from_step)) AS step
  FROM allocations AS a
  JOIN arena_timeline() AS t
    USING (module_id, allocation_id)
  GROUP BY a.module_id, a.allocation_id, a.color, a.size_bytes
),
scoped AS (
  SELECT
    a.module_id, a.allocation_id, s.offset_bytes AS from_byte,
    least(s.offset_bytes + s.scoped_bytes, a.allocation_bytes) AS to_byte,
    bool_or(s.schedule_step = a.step) AS is_running
  FROM (
    SELECT a.*, count(*) OVER (
      PARTITION BY a.module_id, a.space_color
    ) AS arena_count
    FROM arenas AS a
  ) AS a
  JOIN scoped_memory() AS s
    ON s.module_id = a.module_id
    AND s.color = a.space_color
    AND s.offset_bytes < a.allocation_bytes
  WHERE a.arena_count = 1
  GROUP BY ALL
),
tenants AS (
  SELECT v.*, a.step
  FROM value_places() AS v
  JOIN arenas AS a USING (module_id, allocation_id)
),
alignments AS (
  SELECT
    module_id, allocation_id,
    bit_or(offset_bytes) & -bit_or(offset_bytes) AS alignment
  FROM tenants
  GROUP BY module_id, allocation_id
),
cuts AS (
  SELECT module_id, allocation_id, offset_bytes AS from_byte FROM tenants
  UNION
  SELECT module_id, allocation_id, offset_bytes + size_bytes FROM tenants
  UNION
  SELECT module_id, allocation_id, offset_bytes + logical_bytes
  FROM tenants
  WHERE logical_bytes < size_bytes
  UNION
  SELECT module_id, allocation_id, unnest([from_byte, to_byte]) FROM scoped
  UNION
  SELECT module_id, allocation_id, 0 FROM arenas
  UNION
  SELECT module_id, allocation_id, allocation_bytes FROM arenas
),
pieces AS (
  SELECT
    module_id, allocation_id, from_byte,
    lead(from_byte) OVER (
      PARTITION BY module_id, allocation_id ORDER BY from_byte
    ) AS to_byte
  FROM cuts
),
covered AS (
  SELECT
    p.module_id, p.allocation_id, p.from_byte, p.to_byte,
    count(v.value_id) AS tenant_count,
    arg_max(
      p.from_byte < v.offset_bytes + coalesce(v.logical_bytes, v.size_bytes),
      (v.start_step, v.value_id)
    ) FILTER (WHERE v.step BETWEEN v.start_step AND v.end_step) AS is_payload
  FROM pieces AS p
  LEFT JOIN tenants AS v
    ON v.module_id = p.module_id
    AND v.allocation_id = p.allocation_id
    AND v.offset_bytes <= p.from_byte
    AND v.offset_bytes + v.size_bytes > p.from_byte
  WHERE p.to_byte IS NOT NULL
  GROUP BY ALL
),
held AS (
  SELECT
    p.module_id, p.allocation_id, p.from_byte, p.to_byte,
    bool_or(s.is_running) AS is_running
  FROM pieces AS p
  JOIN scoped AS s
    ON s.module_id = p.module_id
    AND s.allocation_id = p.allocation_id
    AND s.from_byte <= p.from_byte
    AND s.to_byte > p.from_byte
  GROUP BY p.module_id, p.allocation_id, p.from_byte, p.to_byte
),
named AS (
  SELECT
    c.module_id, c.allocation_id, c.to_byte - c.from_byte AS piece_bytes,
    CASE
      WHEN c.is_payload THEN 'live'
      WHEN NOT c.is_payload THEN 'slot_padding'
      WHEN h.is_running THEN 'scoped'
      WHEN h.from_byte IS NOT NULL AND c.tenant_count = 0 THEN 'scoped'
      WHEN c.tenant_count > 0 THEN 'time_hole'
      WHEN c.to_byte < a.allocation_bytes
        AND c.to_byte - c.from_byte < g.alignment THEN 'alignment_gap'
      ELSE 'never_used'
    END AS part
  FROM covered AS c
  JOIN arenas AS a USING (module_id, allocation_id)
  JOIN alignments AS g USING (module_id, allocation_id)
  LEFT JOIN held AS h USING (module_id, allocation_id, from_byte, to_byte)
),
parts AS (
  SELECT module_id, allocation_id, part, sum(piece_bytes) AS part_bytes
  FROM named
  GROUP BY module_id, allocation_id, part
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  a.allocation_id, r.allocation_bytes, r.step, p.part,
  CAST(p.part_bytes AS BIGINT) AS part_bytes,
  p.part_bytes / nullif(r.allocation_bytes, 0) AS part_ratio
FROM selected_memory() AS m
JOIN allocations AS a USING (module_id, color)
JOIN arenas AS r USING (module_id, allocation_id)
JOIN parts AS p USING (module_id, allocation_id)
ORDER BY
  r.allocation_bytes DESC, m.program, m.module_number, m.rank, a.allocation_id,
  p.part_bytes DESC, p.part
