-- title: Modules that the checks cover
-- question: Which module contents does each check cover?
-- definition: Every module of the selected run, or of all runs, whose details
--   are stored; pruned runs have none.
-- grain: module content
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column printed_total_bytes BIGINT bytes neutral: XLA's own total.
-- column has_assignment BOOLEAN flag neutral: Whether it has allocations.
-- column has_text BOOLEAN flag neutral: Whether it has its HLO text.
SELECT
  c.module_id, c.facts.printed_total_bytes, c.facts.has_assignment,
  c.facts.has_text
FROM (
  SELECT
    m.module_id, {
      'printed_total_bytes': max(m.printed_total_bytes),
      'has_assignment': bool_or(m.has_assignment),
      'has_text': bool_or(m.computation_count > 0)
    } AS facts
  FROM modules AS m
  JOIN runs AS r USING (run_id)
  WHERE r.pruned_at IS NULL
    AND m.is_detailed
    AND ($run IS NULL OR r.name = $run)
  GROUP BY m.module_id
) AS c
