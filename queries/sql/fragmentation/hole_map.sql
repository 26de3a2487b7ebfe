-- title: Free blocks inside arenas
-- question: Which address ranges of each arena are free at a step, and how
--   large is the largest?
-- definition: Per temporary allocation, the address ranges that no live value
--   covers, at at_step or else at the first step with the most live bytes of
--   the arena. frag_index_ratio is 1 minus the largest hole's share of all
--   free bytes: 0 if they are in one piece.
-- grain: module occurrence, allocation, hole
-- leading: program, space_name, allocation_id, step, from_byte, hole_bytes,
--   free_bytes, largest_hole_bytes
-- split: programs
-- param run
-- param program
-- param color
-- param at_step BIGINT = NULL from 0 to 2147483647: Step to look at; NULL for
--   the peak of each arena.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column allocation_id
-- column allocation_bytes BIGINT bytes neutral: Size of the allocation.
-- column step INTEGER step neutral: Step of the holes.
-- column from_byte BIGINT bytes neutral: First free byte.
-- column to_byte BIGINT bytes neutral: First byte after the hole.
-- column hole_bytes BIGINT bytes neutral: Its size.
-- column free_bytes BIGINT bytes neutral: All free bytes of the arena at that
--   step.
-- column largest_hole_bytes BIGINT bytes higher_is_better: Its largest hole.
-- column frag_index_ratio DOUBLE ratio lower_is_better: Scattering of the free
--   bytes: 0 if they are in one piece.
WITH peaks AS (
  SELECT
    module_id, allocation_id,
    arg_max(from_step, (live_bytes, -from_step)) AS peak_step
  FROM arena_timeline()
  GROUP BY module_id, allocation_id
),
arenas AS (
  SELECT
    a.module_id, a.allocation_id, a.size_bytes AS allocation_bytes,
    CAST(coalesce($at_step, p.peak_step) AS INTEGER) AS selected_step
  FROM allocations AS a
  JOIN peaks AS p USING (module_id, allocation_id)
),
edges AS (
  SELECT
    a.module_id, a.allocation_id, v.offset_bytes AS from_byte,
    v.offset_bytes + v.size_bytes AS to_byte
  FROM arenas AS a
  JOIN value_places() AS v
    USING (module_id, allocation_id)
  WHERE a.selected_step BETWEEN v.start_step AND v.end_step
    AND v.size_bytes > 0
  UNION ALL
  SELECT module_id, allocation_id, allocation_bytes,
    allocation_bytes FROM arenas
),
gaps AS (
  SELECT
    module_id, allocation_id, from_byte AS hole_end,
    coalesce(max(to_byte) OVER (
      PARTITION BY module_id, allocation_id
      ORDER BY from_byte, to_byte
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS hole_start
  FROM edges
),
holes AS (
  SELECT
    *,
    sum(hole_end - hole_start) OVER same_arena AS free_bytes,
    max(hole_end - hole_start) OVER same_arena AS largest_hole_bytes
  FROM gaps
  WHERE hole_end > hole_start
  WINDOW same_arena AS (PARTITION BY module_id, allocation_id)
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  r.allocation_id, r.allocation_bytes, r.selected_step AS step,
  h.hole_start AS from_byte, h.hole_end AS to_byte,
  h.hole_end - h.hole_start AS hole_bytes,
  CAST(h.free_bytes AS BIGINT) AS free_bytes, h.largest_hole_bytes,
  1 - h.largest_hole_bytes / h.free_bytes AS frag_index_ratio
FROM selected_memory() AS m
JOIN allocations AS a USING (module_id, color)
JOIN arenas AS r USING (module_id, allocation_id)
JOIN holes AS h USING (module_id, allocation_id)
ORDER BY
  h.free_bytes DESC, m.program, m.module_number, m.rank, r.allocation_id,
  h.hole_start
