-- title: Owners of source files
-- question: Who owns which source files?
-- definition: A table of path prefixes and owners, empty until a query of your
--   own with the name owner_rules and these columns takes its place. The
--   longest prefix that a path begins with, or contains after a slash,
--   decides.
-- grain: path prefix
-- column path_prefix VARCHAR name neutral: Beginning of a path, such as
--   models/gpt/.
-- column owner VARCHAR name neutral: Who looks after it.
SELECT r.path_prefix, r.owner
FROM (
  VALUES (CAST(NULL AS VARCHAR), CAST(NULL AS VARCHAR))
) AS r (path_prefix, owner)
WHERE r.path_prefix IS NOT NULL
