-- Source lines of instructions: $locations and $instructions lie side by side.
WITH wanted AS (
  SELECT DISTINCT
    unnest(from_json($locations, '["BIGINT"]')) AS locations_id,
    unnest(from_json($instructions, '["INTEGER"]')) AS instruction_id
)
SELECT
  w.locations_id, w.instruction_id,
  coalesce(u.file_name, l.source_file) AS source_file,
  coalesce(u.line, l.source_line) AS source_line
FROM wanted AS w
JOIN locations AS l USING (locations_id, instruction_id)
LEFT JOIN stack_frames AS f
  ON f.locations_id = l.locations_id
  AND f.stack_frame_id = l.stack_frame_id
LEFT JOIN stack_frames AS u
  ON u.locations_id = l.locations_id
  AND u.stack_frame_id = f.user_frame_id
-- TensorFlow's name for the source of clusters that it finds itself.
WHERE l.source_file IS DISTINCT FROM 'dummy_file_name'
