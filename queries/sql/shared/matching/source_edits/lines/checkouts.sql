-- step: The folders that both sides were checked out in, where files of the
--   user have other paths: of files of one name, those with the longest common
--   end are the same. Where others, such as a launcher, have the same path on
--   both sides, a folder of theirs has one name, too.
-- grain: pair whose folders differ
WITH files AS MATERIALIZED (
  SELECT
    pair, bool_or(is_candidate) AS is_candidate, file_name,
    string_split(file_name, '/') AS parts,
    count(DISTINCT is_candidate) = 2 AS is_on_both_sides
  FROM dumped_frames
  WHERE is_user
    AND starts_with(file_name, '/')
  GROUP BY pair, file_name
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
  LEFT JOIN (
    SELECT DISTINCT pair FROM files WHERE is_on_both_sides
  ) AS s ON s.pair = b.pair
  WHERE NOT b.is_candidate
    AND c.is_candidate
    AND NOT c.is_on_both_sides
    AND (s.pair IS NULL OR c.parts[-2] = b.parts[-2])
)
SELECT
  h.pair,
  left(h.base_file, length(h.base_file) - h.shared_length) AS base_folder,
  left(h.candidate_file, length(h.candidate_file) - h.shared_length)
    AS candidate_folder
FROM files_of_one_name AS h
QUALIFY row_number() OVER (
  PARTITION BY h.pair
  ORDER BY h.shared_length DESC, h.base_file, h.candidate_file
) = 1
