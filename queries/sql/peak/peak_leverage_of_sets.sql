-- title: Fall of the peak without a set of values
-- question: How far would the peak fall without all values of a source line, a
--   part of the model, an element type or a kind of allocation, or if they
--   were half as large?
-- definition: The exact live peak of the memory space without any value of the
--   set, everything else unchanged. A byte is freed at a step if only values
--   of the set use it; a parameter, constant or live-out allocation is freed
--   as a whole if no other value lives in it. half_leverage_bytes is the fall
--   if half of the freed bytes go, rounded down at each step. Sets are those
--   of value_sets that alone use some bytes of the peak; no other lowers it.
--   They may share values, so their leverages do not add up.
-- grain: module occurrence, memory space, set
-- leading: program, space_name, set_name, leverage_bytes, leverage_ratio,
--   owned_bytes, value_count, new_peak_instruction
-- split: programs
-- param run
-- param program
-- param color
-- param grouped_by
-- param top BIGINT = NULL from 0: At most this many sets per module and memory
--   space; NULL for all, or for 20 where hlodb query prints a table.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column set_name VARCHAR name neutral: Source line, prefix, element type or
--   kind.
-- column value_count BIGINT count neutral: Values of the set that are live at
--   the peak.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak that
--   they own.
-- column leverage_bytes BIGINT bytes higher_is_better: Fall of the live peak
--   without the set.
-- column leverage_ratio DOUBLE ratio higher_is_better: Its share of
--   live_peak_bytes.
-- column half_leverage_bytes BIGINT bytes higher_is_better: Fall of the live
--   peak if the set were half as large.
-- column live_peak_bytes
-- column new_peak_bytes
-- column new_peak_step
-- column new_peak_instruction VARCHAR name neutral: Instruction scheduled at
--   that step.
WITH members AS MATERIALIZED (
  SELECT *, row_number() OVER () AS place FROM value_sets()
),
ranked AS (
  SELECT
    m.run, m.program, m.module_number, m.rank, m.occurrence, m.color,
    m.space_name, m.module_id, m.live_peak_bytes, s.set_name, s.value_count,
    s.owned_bytes, s.new_peak_bytes, s.new_peak_step, s.part_peak_bytes,
    row_number() OVER (
      PARTITION BY m.occurrence, m.color
      ORDER BY s.new_peak_bytes, s.owned_bytes DESC, s.set_name
    ) AS place
  FROM selected_memory() AS m
  JOIN set_leverage(
    member_modules := (SELECT list(v.module_id ORDER BY v.place) FROM members
      AS v),
    member_locations := (SELECT list(v.locations_id ORDER BY v.place)
      FROM members AS v),
    member_sets := (SELECT list(v.set_name ORDER BY v.place) FROM members
      AS v),
    member_values := (SELECT list(v.value_id ORDER BY v.place) FROM members
      AS v)
  ) AS s USING (module_id, color)
  WHERE s.locations_id IS NOT DISTINCT FROM m.locations_id
    AND s.new_peak_bytes IS NOT NULL
)
SELECT
  r.run, r.program, r.module_number, r.rank, r.color, r.space_name,
  r.set_name, r.value_count, r.owned_bytes,
  r.live_peak_bytes - r.new_peak_bytes AS leverage_bytes,
  (r.live_peak_bytes - r.new_peak_bytes) / nullif(r.live_peak_bytes, 0)
    AS leverage_ratio,
  r.live_peak_bytes - r.part_peak_bytes AS half_leverage_bytes,
  r.live_peak_bytes, r.new_peak_bytes, r.new_peak_step,
  i.name AS new_peak_instruction
FROM ranked AS r
LEFT JOIN schedule AS c
  ON c.module_id = r.module_id
  AND c.step = r.new_peak_step
LEFT JOIN instructions AS i
  ON i.module_id = c.module_id
  AND i.instruction_id = c.instruction_id
WHERE $top IS NULL
  OR r.place <= $top
ORDER BY
  r.live_peak_bytes DESC, r.program, r.module_number, r.rank, r.occurrence,
  r.color, r.place
