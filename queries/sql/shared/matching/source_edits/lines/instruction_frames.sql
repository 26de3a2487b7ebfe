-- step: The frame of each instruction.
-- grain: pair, side, instruction with a location
SELECT
  p.pair, p.is_candidate, n.instruction_id,
  coalesce(l.stack_frame_id, -1 - l.location_number) AS frame_id
FROM programs AS p
JOIN store.location_sets AS t USING (locations_id)
JOIN store.location_numbers AS n USING (numbering_id)
JOIN store.location_lists AS l
  ON l.list_id = t.list_id
  AND l.location_number = n.location_number
