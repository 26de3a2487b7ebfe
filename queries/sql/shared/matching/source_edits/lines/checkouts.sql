-- step: The folders that both sides were checked out in, if no file of the
--   user has the same path on both: of files of one name, those with the
--   longest common end are the same.
-- grain: pair whose folders differ
WITH files AS MATERIALIZED (
  SELECT DISTINCT
    pair, is_candidate, file_name, string_split(file_name, '/') AS parts
  FROM dumped_frames
  WHERE is_user
    AND starts_with(file_name, '/')
),
files_of_one_name AS (
  SELECT
    b.pair, b.file_name AS base_file, c.file_name AS candidate_file,
    CAST(list_sum(list_transform(
      range(1, least(len(b.parts), len(c.parts)) + 1),
      lambda n: CASE
        WHEN b.parts[-n:] = c.parts[-n:] THEN length(b.parts[-n]) + 1 ELSE 0
      END
    )) AS BIGINT) AS shared_length
  FROM files AS b
  JOIN files AS c
    ON c.pair = b.pair
    AND c.parts[-1] = b.parts[-1]
  WHERE NOT b.is_candidate
    AND c.is_candidate
)
SELECT
  h.pair,
  left(h.base_file, length(h.base_file) - h.shared_length) AS base_folder,
  left(h.candidate_file, length(h.candidate_file) - h.shared_length)
    AS candidate_folder
FROM files_of_one_name AS h
ANTI JOIN (
  SELECT pair
  FROM files
  GROUP BY pair, file_name
  HAVING count(*) = 2
) AS same ON same.pair = h.pair
QUALIFY row_number() OVER (
  PARTITION BY h.pair
  ORDER BY h.shared_length DESC, h.base_file, h.candidate_file
) = 1
