-- step: Arrays of programs with clones, with the steps at which they are live.
-- grain: value
SELECT
  *,
  regexp_replace(shape, '\{.*$', '') AS dimensions
FROM value_places()
SEMI JOIN clones AS c USING (module_id)
WHERE start_step IS NOT NULL
  AND shape NOT LIKE '(%'
  AND kind <> 'thread_local'
