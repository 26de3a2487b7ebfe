-- title: Owners of source files
-- question: Who owns which source files?
-- definition: A table of path prefixes and owners. It is empty until you
--   replace it with a query of your own with this name and these columns. The
--   longest prefix decides that a path begins with, or contains after a slash.
-- grain: path prefix
-- column path_prefix VARCHAR name neutral: Beginning of a path, such as
--   models/gpt/.
-- column owner VARCHAR name neutral: Owner of the files.
SELECT r.path_prefix, r.owner
FROM (
  VALUES (CAST(NULL AS VARCHAR), CAST(NULL AS VARCHAR))
) AS r (path_prefix, owner)
WHERE r.path_prefix IS NOT NULL
