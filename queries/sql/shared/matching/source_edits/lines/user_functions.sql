-- step: Names of the user's functions, as JAX has them in paths.
-- grain: pair, function
SELECT DISTINCT
  pair, string_split(function_name, '.')[-1] AS function_name
FROM frames
WHERE is_user
  AND function_name <> ''
