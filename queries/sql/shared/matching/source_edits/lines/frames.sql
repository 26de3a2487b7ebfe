-- step: The stack frames, with files of the candidate called as in the base.
-- grain: pair, side, frame
SELECT
  f.* REPLACE (
    CASE
      WHEN f.is_candidate
        AND starts_with(f.file_name, c.candidate_folder || '/')
        THEN c.base_folder
          || substr(f.file_name, length(c.candidate_folder) + 1)
      ELSE f.file_name
    END AS file_name
  )
FROM dumped_frames AS f
LEFT JOIN checkouts AS c USING (pair)
