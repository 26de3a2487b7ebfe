-- step: The calls that lead from the entry computation to another one, each by
--   the first call of it. In a text, what is called comes before its callers.
-- grain: pair, side, computation
WITH RECURSIVE first_calls AS MATERIALIZED (
  SELECT
    i.pair, i.is_candidate, c.called_id,
    min(i.instruction_id) AS instruction_id,
    arg_min(i.computation_id, i.instruction_id) AS computation_id
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  GROUP BY i.pair, i.is_candidate, c.called_id
),
led AS (
  SELECT p.pair, p.is_candidate, p.entry_id AS computation_id, [] AS calls
  FROM programs AS p
  UNION ALL
  SELECT
    l.pair, l.is_candidate, c.called_id,
    list_append(l.calls, c.instruction_id) AS calls
  FROM led AS l
  JOIN first_calls AS c
    ON c.pair = l.pair
    AND c.is_candidate = l.is_candidate
    AND c.computation_id = l.computation_id
)
SELECT l.pair, l.is_candidate, l.computation_id, l.calls
FROM led AS l
