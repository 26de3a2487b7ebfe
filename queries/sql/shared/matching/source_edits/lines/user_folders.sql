-- step: The folder that all files of the user are in, with a slash; of those
--   that both sides checked out in their own folders, where there are such.
-- grain: pair
WITH files AS (
  SELECT r.pair, min(r.file_name) AS first_file, max(r.file_name) AS last_file
  FROM frames AS r
  LEFT JOIN checkouts AS c USING (pair)
  WHERE r.is_user
    AND starts_with(r.file_name, coalesce(c.base_folder, '') || '/')
  GROUP BY r.pair
)
SELECT
  f.pair,
  CASE
    WHEN f.first_file = f.last_file THEN regexp_extract(f.first_file, '^.*/')
    ELSE regexp_extract(list_max(list_transform(
      range(0, length(f.first_file)),
      lambda n: CASE
        WHEN starts_with(f.last_file, left(f.first_file, n))
          THEN left(f.first_file, n)
      END
    )), '^.+/')
  END AS folder
FROM files AS f
