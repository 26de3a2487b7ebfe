-- step: Modules that the next run does not have.
-- grain: run, module
SELECT h.*
FROM compiled_modules AS h
ANTI JOIN matches_of_neighbours AS d
  ON d.base_run_id = h.run_id
  AND d.base_place = h.place
