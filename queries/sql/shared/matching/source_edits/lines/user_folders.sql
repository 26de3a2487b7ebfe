-- step: How many characters the folder has that all files of the user are in.
-- grain: pair
WITH files AS (
  SELECT pair, min(file_name) AS first_file, max(file_name) AS last_file
  FROM frames
  WHERE is_user
    AND starts_with(file_name, '/')
  GROUP BY pair
)
SELECT
  f.pair,
  CASE
    WHEN f.first_file = f.last_file
      THEN length(regexp_extract(f.first_file, '^.*/'))
    ELSE length(regexp_extract(list_max(list_transform(
      range(0, length(f.first_file)),
      lambda n: CASE
        WHEN starts_with(f.last_file, left(f.first_file, n))
          THEN left(f.first_file, n)
      END
    )), '^.+/'))
  END AS folder_length
FROM files AS f
