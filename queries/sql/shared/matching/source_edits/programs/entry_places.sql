-- step: The first instruction of the entry computation that leads to another
--   computation: in a text, what is called comes before its callers.
-- grain: pair, side, computation
WITH RECURSIVE calls AS MATERIALIZED (
  SELECT DISTINCT
    i.pair, i.is_candidate, i.computation_id, i.instruction_id, c.called_id
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
),
led AS (
  SELECT c.pair, c.is_candidate, c.called_id, c.instruction_id AS place
  FROM calls AS c
  JOIN programs AS p
    ON p.pair = c.pair
    AND p.is_candidate = c.is_candidate
    AND p.entry_id = c.computation_id
  UNION
  SELECT l.pair, l.is_candidate, c.called_id, l.place
  FROM led AS l
  JOIN calls AS c
    ON c.pair = l.pair
    AND c.is_candidate = l.is_candidate
    AND c.computation_id = l.called_id
)
SELECT
  l.pair, l.is_candidate, l.called_id AS computation_id, min(l.place) AS place
FROM led AS l
GROUP BY l.pair, l.is_candidate, l.called_id
