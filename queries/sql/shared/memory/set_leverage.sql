-- title: Leverage of every set of values
-- question: How high is the live peak without these values, or with a part of
--   their bytes?
-- definition: The live peak as peak_leverage_of_sets defines it, for sets
--   that alone use some bytes at the peak; removing any other set does not
--   change the peak. It is the same for sets whose neighbours move apart. Of
--   a set there is one part, one whole and one is_apart.
-- grain: module content, source locations, memory space, set
-- steps: selected_spaces, set_members, sets, memory_curves, space_values,
--   removed_values, shared_bytes, still_held, standing_holders,
--   freed_allocations, set_curves, remaining_peaks, reservations
-- param run
-- param program
-- param color
-- param member_modules BIGINT[] = NULL: Module contents of the values of the
--   sets, in any order; a value is there once for each set it is in.
-- param member_locations BIGINT[] = NULL: Their source locations, in the same
--   order.
-- param member_sets VARCHAR[] = NULL: The set that each is in.
-- param member_values BIGINT[] = NULL: Their value_id.
-- param member_parts BIGINT[] = NULL from 0: Of so many of the freed bytes,
-- param member_wholes BIGINT[] = NULL from 1: divided by so many,
--   part_peak_bytes is without; NULL for 1 of 2.
-- param member_apart BIGINT[] = NULL from 0 to 1: 1 where other values of an
--   allocation that is not temporary get memory of their own, so that all of
--   it is freed.
-- param member_from BIGINT[] = NULL from 0: First step at which each is
--   freed; NULL for its first.
-- param member_until BIGINT[] = NULL from 0: Last step at which each is; NULL
--   for its last.
-- column module_id
-- column locations_id
-- column color
-- column set_name VARCHAR name neutral: Its name.
-- column value_count BIGINT count neutral: Its values that are live at the
--   peak.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak that
--   they own.
-- column new_peak_bytes
-- column new_peak_step
-- column part_peak_bytes BIGINT bytes lower_is_better: Live peak if a part of
--   the bytes goes.
-- column part_reserved_bytes BIGINT bytes higher_is_better: What less is
--   reserved if a part of the bytes goes: allocations that go as a whole, and
--   the fall of the peak of temporary values alone.
SELECT
  o.module_id, o.locations_id, o.space_color AS color,
  o.name_of_set AS set_name, o.values_there AS value_count,
  o.bytes_there AS owned_bytes,
  CAST(r.new_peak AS BIGINT) AS new_peak_bytes,
  CAST(r.new_step AS INTEGER) AS new_peak_step,
  CAST(r.part_peak AS BIGINT) AS part_peak_bytes,
  CAST(v.saved_bytes AS BIGINT) AS part_reserved_bytes
FROM sets AS o
LEFT JOIN remaining_peaks AS r USING (set_id)
JOIN reservations AS v USING (set_id)
WHERE r.set_id IS NOT NULL
  OR v.saved_bytes > 0
