-- title: Numbers of a module's instructions
-- question: Which modules have instruction numbers without gaps?
-- definition: Least and greatest instruction_id of every module content; NULL
--   if numbers between them are missing or duplicated. Any number between the
--   two belongs to an existing instruction.
-- grain: module content
-- column module_id
-- column least_id INTEGER id neutral: The least; NULL with gaps.
-- column greatest_id INTEGER id neutral: The greatest; NULL with gaps.
-- column unplaced_count BIGINT count neutral: Instructions without a
--   computation, which only a buffer assignment prints.
SELECT
  s.module_id,
  CASE WHEN s.is_gapless AND u.owner_id IS NULL THEN s.least_id END
    AS least_id,
  CASE WHEN s.is_gapless AND u.owner_id IS NULL THEN s.greatest_id END
    AS greatest_id,
  s.unplaced_count
FROM (
  SELECT
    r.module_id, r.least_instruction_id AS least_id,
    r.greatest_instruction_id AS greatest_id,
    r.row_count = r.greatest_instruction_id - r.least_instruction_id + 1
      AS is_gapless,
    r.unnamed_count AS unplaced_count
  FROM module_rows() AS r
  WHERE r.table_name = 'instructions'
) AS s
LEFT JOIN (
  SELECT owner_id FROM suspect_keys() WHERE table_name = 'instructions'
) AS u ON u.owner_id = s.module_id
