-- title: Source line of every instruction that has one
-- question: Which source line of the user does each instruction come from?
-- definition: The innermost stack frame outside of framework files, in newer
--   releases; else source_file and source_line of the metadata, unless it is
--   the dummy_file_name that TensorFlow uses for clusters that it finds
--   itself. If the only known file belongs to a framework (framework_files),
--   as in TensorFlow since 2.15, source_file is NULL and is_framework true.
--   Modules are those of located_contents.
-- grain: module content, source locations, instruction
-- param run
-- param program
-- param module_ids
-- param every_run
-- param locations_ids
-- column module_id
-- column locations_id
-- column instruction_id
-- column source_file
-- column source_line
-- column function_name
-- column stack_frame_id INTEGER id neutral: Innermost stack frame.
-- column is_framework BOOLEAN flag neutral: Whether the only known line is in
--   a framework file.
WITH chosen AS MATERIALIZED (
  SELECT DISTINCT m.module_id, m.locations_id, s.numbering_id, s.list_id
  FROM located_contents() AS m
  JOIN store.location_sets AS s USING (locations_id)
),
-- Each is fixed, and of the chosen modules alone: else the numbers of all
-- modules meet all lists.
numbers AS MATERIALIZED (
  SELECT n.numbering_id, n.instruction_id, n.location_number
  FROM (SELECT DISTINCT numbering_id FROM chosen) AS c
  JOIN store.location_numbers AS n USING (numbering_id)
),
lists AS MATERIALIZED (
  SELECT
    l.list_id, l.location_number, l.source_file, l.source_line,
    l.stack_frame_id
  FROM (SELECT DISTINCT list_id FROM chosen) AS c
  JOIN store.location_lists AS l USING (list_id)
  WHERE l.source_file IS DISTINCT FROM 'dummy_file_name'
),
said AS MATERIALIZED (
  SELECT
    c.module_id, c.locations_id, n.instruction_id,
    coalesce(u.file_name, l.source_file) AS source_file,
    coalesce(u.line, l.source_line) AS source_line,
    u.function_name, l.stack_frame_id
  FROM chosen AS c
  JOIN numbers AS n USING (numbering_id)
  JOIN lists AS l
    ON l.list_id = c.list_id
    AND l.location_number = n.location_number
  LEFT JOIN stack_frames AS f
    ON f.locations_id = c.locations_id
    AND f.stack_frame_id = l.stack_frame_id
  LEFT JOIN stack_frames AS u
    ON u.locations_id = c.locations_id
    AND u.stack_frame_id = f.user_frame_id
),
foreign_files AS (
  SELECT d.source_file
  FROM (SELECT DISTINCT source_file FROM said) AS d
  SEMI JOIN framework_files() AS p ON contains(d.source_file, p.fragment)
)
SELECT
  s.module_id, s.locations_id, s.instruction_id,
  CASE WHEN p.source_file IS NULL THEN s.source_file END AS source_file,
  CASE WHEN p.source_file IS NULL THEN s.source_line END AS source_line,
  CASE WHEN p.source_file IS NULL THEN s.function_name END AS function_name,
  s.stack_frame_id, p.source_file IS NOT NULL AS is_framework
FROM said AS s
LEFT JOIN foreign_files AS p ON p.source_file = s.source_file
