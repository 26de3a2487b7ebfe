-- step: Live peak and reserved bytes without each set, or without that part of
--   it, as set_leverage computes them.
-- grain: module content, memory space, set
WITH columns_of_members AS (
  SELECT
    list(v.module_id ORDER BY v.place) AS modules,
    list(v.locations_id ORDER BY v.place) AS locations,
    list(v.set_name ORDER BY v.place) AS sets,
    list(v.value_id ORDER BY v.place) AS value_ids,
    list(v.part ORDER BY v.place) AS parts,
    list(v.whole ORDER BY v.place) AS wholes,
    list(v.is_apart ORDER BY v.place) AS apart,
    list(v.from_step ORDER BY v.place) AS first_steps,
    list(v.until_step ORDER BY v.place) AS last_steps
  FROM remedy_members AS v
)
SELECT
  s.module_id, s.locations_id, s.color AS space_color,
  split_part(s.set_name, '|', 1) AS rule_id,
  substr(s.set_name, strpos(s.set_name, '|') + 1) AS subject,
  s.set_name, s.part_peak_bytes, s.part_reserved_bytes
FROM set_leverage(
  color := coalesce($color, 0),
  member_modules := (SELECT modules FROM columns_of_members),
  member_locations := (SELECT locations FROM columns_of_members),
  member_sets := (SELECT sets FROM columns_of_members),
  member_values := (SELECT value_ids FROM columns_of_members),
  member_parts := (SELECT parts FROM columns_of_members),
  member_wholes := (SELECT wholes FROM columns_of_members),
  member_apart := (SELECT apart FROM columns_of_members),
  member_from := (SELECT first_steps FROM columns_of_members),
  member_until := (SELECT last_steps FROM columns_of_members)
) AS s
