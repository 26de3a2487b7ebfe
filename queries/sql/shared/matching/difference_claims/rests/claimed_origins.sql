-- step: Memory spaces with more claims of edits than one, or with one beside
--   something else that differs: what an edit that is no claim may have a part
--   in belongs to nothing.
-- grain: pair, memory space
SELECT e.pair, e.space_color
FROM claims_of_edits AS e
GROUP BY e.pair, e.space_color
HAVING count(e.standing)
  > CASE WHEN bool_or(e.is_source_alone) THEN 1 ELSE 0 END
