-- step: The two sides of these, with their framework paths.
-- grain: pair, memory space, row of buffer_changes, side
SELECT
  c.pair, c.space_color, c.number, FALSE AS is_own, p.base_id AS module_id,
  p.base_locations AS locations_id, c.base_value_id AS value_id,
  c.base_instruction AS name, c.base_op_path AS op_path
FROM changed_buffers AS c
JOIN split_pairs AS p USING (pair)
WHERE c.base_instruction IS NOT NULL
UNION ALL
SELECT
  c.pair, c.space_color, c.number, TRUE, p.own_id, p.own_locations,
  c.candidate_value_id, c.candidate_instruction, c.candidate_op_path
FROM changed_buffers AS c
JOIN split_pairs AS p USING (pair)
WHERE c.candidate_instruction IS NOT NULL
