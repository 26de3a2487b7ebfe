-- step: Modules that the run before does not have.
-- grain: run, module
SELECT h.*
FROM compiled_modules AS h
ANTI JOIN matches_of_neighbours AS d
  ON d.candidate_run_id = h.run_id
  AND d.candidate_place = h.place
WHERE h.run_place > 2
