-- title: Text and proto agree
-- question: For which modules do text and proto give different rows?
-- definition: If a module was dumped as text and as proto, every row that both
--   contain is equal. expected is the number of rows compared, found the
--   number of equal ones.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
SELECT
  f.module_id,
  'rows of ' || c.table_name || coalesce(', ' || c.example, '') AS place,
  c.compared_count AS expected, c.compared_count - c.difference_count AS found
FROM proto_comparisons AS c
JOIN dump_files AS f
  ON f.run_id = c.run_id
  AND f.path = c.path
JOIN runs AS r ON r.run_id = c.run_id
WHERE c.difference_count > 0
  AND ($run IS NULL OR r.name = $run)
