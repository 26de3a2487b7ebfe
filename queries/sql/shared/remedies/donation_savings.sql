-- title: What donating all arguments saves
-- question: What do reserved memory and the live peak fall by if all arguments
--   are donated that can be?
-- definition: The remedy donate of remedies, without the others: moved_results
--   that take the memory of arguments (set_leverage), of the main memory
--   (color 0), where that saves at least 1 % of either.
-- grain: module occurrence
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column arguments VARCHAR text neutral: As in moved_results.
-- column saved_reserved_bytes BIGINT bytes higher_is_better: What
--   reserved_bytes falls by.
-- column saved_bytes BIGINT bytes higher_is_better: What the live peak falls
--   by.
-- column path
WITH chosen AS MATERIALIZED (
  SELECT m.*
  FROM selected_memory(color := 0) AS m
  WHERE m.live_peak_bytes > 0
),
contents AS MATERIALIZED (
  SELECT DISTINCT module_id, locations_id FROM chosen
),
moved AS MATERIALIZED (
  SELECT n.* FROM moved_results() AS n
  WHERE n.color = 0
    AND NOT n.is_stacked
),
columns_of_members AS MATERIALIZED (
  SELECT
    list(v.module_id ORDER BY v.value_id) AS modules,
    list(c.locations_id ORDER BY v.value_id) AS locations,
    list('donated' ORDER BY v.value_id) AS sets,
    list(v.value_id ORDER BY v.value_id) AS value_ids,
    list(1 ORDER BY v.value_id) AS ones,
    list(CAST(NULL AS BIGINT) ORDER BY v.value_id) AS nulls
  FROM contents AS c
  JOIN moved AS v USING (module_id)
),
priced AS MATERIALIZED (
  SELECT
    s.module_id, s.locations_id, s.part_peak_bytes, s.part_reserved_bytes
  FROM set_leverage(
    color := 0,
    member_modules := (SELECT modules FROM columns_of_members),
    member_locations := (SELECT locations FROM columns_of_members),
    member_sets := (SELECT sets FROM columns_of_members),
    member_values := (SELECT value_ids FROM columns_of_members),
    member_parts := (SELECT ones FROM columns_of_members),
    member_wholes := (SELECT ones FROM columns_of_members),
    member_apart := (SELECT ones FROM columns_of_members),
    member_from := (SELECT nulls FROM columns_of_members),
    member_until := (SELECT nulls FROM columns_of_members)
  ) AS s
),
found AS (
  SELECT
    c.*, n.arguments, greatest(0, p.part_reserved_bytes) AS spared,
    c.live_peak_bytes - coalesce(p.part_peak_bytes, c.live_peak_bytes)
      AS saved
  FROM chosen AS c
  JOIN priced AS p
    ON p.module_id = c.module_id
    AND p.locations_id IS NOT DISTINCT FROM c.locations_id
  JOIN (SELECT DISTINCT module_id, arguments FROM moved) AS n
    ON n.module_id = c.module_id
)
SELECT
  f.run, f.program, f.module_number, f.rank, f.color, f.space_name,
  f.arguments, CAST(f.spared AS BIGINT) AS saved_reserved_bytes,
  CAST(f.saved AS BIGINT) AS saved_bytes, f.path
FROM found AS f
WHERE greatest(f.saved, f.spared) > 0
  AND (
    f.saved >= 0.01 * f.live_peak_bytes
    OR f.spared >= 0.01 * f.reserved_bytes
  )
ORDER BY
  saved_reserved_bytes DESC, f.program, f.module_number, f.rank, f.occurrence
