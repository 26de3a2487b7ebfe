-- title: Modules that need a check of each value's place
-- question: For which modules must places and sizes of values be checked one
--   by one?
-- definition: Module contents without a proof that each value has one place
--   with enough room. The proof: there are as many places as values, no value
--   is duplicated, and each value has a place of at least its logical_bytes.
--   Modules without values and places need no proof.
-- grain: module content
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
WITH counted AS (
  SELECT module_id, count(*) AS surplus
  FROM store."values"
  GROUP BY module_id
  UNION ALL
  SELECT module_id, -count(*)
  FROM allocation_values
  GROUP BY module_id
)
SELECT c.module_id
FROM counted AS c
GROUP BY c.module_id
HAVING sum(c.surplus) <> 0
UNION
SELECT k.owner_id
FROM suspect_keys() AS k
WHERE k.table_name = 'values'
UNION
SELECT v.module_id
FROM checked_modules() AS m
JOIN store."values" AS v USING (module_id)
ANTI JOIN allocation_values AS p
  ON p.module_id = v.module_id
  AND p.value_id = v.value_id
  AND p.size_bytes >= v.logical_bytes
