-- step: Stack frames of the programs with the files as dumped. A release that
--   prints only a line for an instruction has a frame for each such line, with
--   a negative number and an empty function.
-- grain: pair, side, frame
WITH all_frames AS MATERIALIZED (
  SELECT
    p.locations_id, f.stack_frame_id, f.parent_id, f.user_frame_id,
    f.function_name, f.file_name, f.line, f."column" AS column_number
  FROM (SELECT DISTINCT locations_id FROM programs) AS p
  JOIN store.location_sets AS t USING (locations_id)
  JOIN store.stack_frames AS f USING (frames_id)
  UNION ALL
  SELECT
    p.locations_id, -1 - l.location_number, NULL, -1 - l.location_number, '',
    l.source_file, l.source_line, NULL
  FROM (SELECT DISTINCT locations_id FROM programs) AS p
  JOIN store.location_sets AS t USING (locations_id)
  JOIN store.location_lists AS l USING (list_id)
  WHERE l.stack_frame_id IS NULL
    AND l.source_file IS NOT NULL
    AND l.source_line IS NOT NULL
    AND l.source_file <> 'dummy_file_name'
),
files_of_frameworks AS (
  SELECT DISTINCT f.file_name
  FROM all_frames AS f
  JOIN framework_files() AS p ON contains(f.file_name, p.fragment)
)
SELECT
  p.pair, p.is_candidate, f.stack_frame_id AS frame_id, f.parent_id,
  f.function_name, f.file_name, f.line, f.column_number,
  f.user_frame_id = f.stack_frame_id AND k.file_name IS NULL AS is_user
FROM programs AS p
JOIN all_frames AS f USING (locations_id)
LEFT JOIN files_of_frameworks AS k ON k.file_name = f.file_name
