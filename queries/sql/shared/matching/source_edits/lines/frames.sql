-- step: The stack frames, with files of the candidate called as in the base. A
--   lambda that one side lacks is called as the function around it, which may
--   have done its work before, unless there are more or fewer arguments.
-- grain: pair, side, frame
WITH functions AS MATERIALIZED (
  SELECT DISTINCT pair, is_candidate, function_name FROM dumped_frames
),
new_lambdas AS (
  SELECT
    l.pair, l.is_candidate, l.function_name,
    regexp_replace(l.function_name, '(\.<locals>\.<lambda>)+$', '')
      AS outer_name
  FROM functions AS l
  JOIN argument_agreement AS g
    ON g.pair = l.pair
    AND g.has_same_count
  ANTI JOIN functions AS o
    ON o.pair = l.pair
    AND o.is_candidate <> l.is_candidate
    AND o.function_name = l.function_name
  SEMI JOIN functions AS f
    ON f.pair = l.pair
    AND f.is_candidate <> l.is_candidate
    AND f.function_name
      = regexp_replace(l.function_name, '(\.<locals>\.<lambda>)+$', '')
  WHERE l.function_name LIKE '%.<lambda>'
)
SELECT
  f.* REPLACE (
    CASE
      WHEN f.is_candidate
        AND starts_with(f.file_name, c.candidate_folder || '/')
        THEN c.base_folder
          || substr(f.file_name, length(c.candidate_folder) + 1)
      ELSE f.file_name
    END AS file_name,
    coalesce(l.outer_name, f.function_name) AS function_name
  )
FROM dumped_frames AS f
LEFT JOIN checkouts AS c USING (pair)
LEFT JOIN new_lambdas AS l USING (pair, is_candidate, function_name)
