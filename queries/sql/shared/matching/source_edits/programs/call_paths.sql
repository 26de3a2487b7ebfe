-- step: Framework paths of the calls that lead to a computation, one after the
--   other, without wrappers of JAX: XLA puts them before the paths of what it
--   inlines.
-- grain: pair, side, computation
WITH RECURSIVE calls AS MATERIALIZED (
  SELECT DISTINCT
    i.pair, i.is_candidate, i.computation_id, c.called_id,
    CASE WHEN f.opcode = 'call' THEN list_filter(
      string_split(f.op_name, '/'),
      lambda p: NOT regexp_full_match(
        p, '|p?jit\(.*\)|while|body|cond|closed_call|branch_\d+_fun'
      )
    ) ELSE [] END AS parts
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  JOIN forms AS f USING (form_id)
  WHERE $with_paths
),
led AS (
  SELECT p.pair, p.is_candidate, p.entry_id AS computation_id, '' AS call_path
  FROM programs AS p
  WHERE $with_paths
  UNION
  SELECT
    l.pair, l.is_candidate, c.called_id,
    l.call_path || array_to_string(list_transform(
      c.parts, lambda p: p || '/'
    ), '')
  FROM led AS l
  JOIN calls AS c USING (pair, is_candidate, computation_id)
)
SELECT
  l.pair, l.is_candidate, l.computation_id,
  list(l.call_path ORDER BY l.call_path) AS call_paths
FROM led AS l
GROUP BY l.pair, l.is_candidate, l.computation_id
