-- title: Numbers of a module's instructions
-- question: From where to where do the numbers of a module's instructions go
--   without a gap?
-- definition: The least and the greatest instruction_id of every module
--   content, NULL where numbers are missing in between or are duplicated. What
--   refers to a number from the least to the greatest refers to an instruction
--   that is there.
-- grain: module content
-- column module_id
-- column least_id INTEGER id neutral: The least; NULL with gaps.
-- column greatest_id INTEGER id neutral: The greatest; NULL with gaps.
-- column unplaced_count BIGINT count neutral: Instructions of no computation:
--   only an assignment prints them.
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
