-- step: These contents, each once; unnested, so that they are planned as a few
--   rows.
-- grain: program
SELECT unnest(list(DISTINCT module_id)) AS module_id FROM asked_sides
