-- title: Last use of every argument
-- question: At which step is an argument of the program read for the last
--   time?
-- definition: The greatest schedule step of the instructions that read a value
--   in the parameter's allocation. Arguments that nobody reads are left out.
-- grain: module content, allocation
-- param run
-- param program
-- column module_id
-- column allocation_id
-- column last_use_step INTEGER step neutral: Last step at which it is read.
WITH arguments AS MATERIALIZED (
  SELECT a.module_id, a.allocation_id, v.value_id
  FROM selected_contents() AS c
  JOIN allocations AS a USING (module_id)
  JOIN allocation_values AS v USING (module_id, allocation_id)
  WHERE a.parameter_number IS NOT NULL
),
-- Readers and steps are fixed, of these modules alone: else all uses meet all
-- instructions.
readers AS MATERIALIZED (
  SELECT DISTINCT a.module_id, a.allocation_id, u.instruction_id
  FROM arguments AS a
  JOIN store.value_uses AS u USING (module_id, value_id)
),
scheduled AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.schedule_step
  FROM selected_contents() AS c
  JOIN store.instructions AS i USING (module_id)
)
SELECT r.module_id, r.allocation_id, max(i.schedule_step) AS last_use_step
FROM readers AS r
JOIN scheduled AS i USING (module_id, instruction_id)
GROUP BY r.module_id, r.allocation_id
