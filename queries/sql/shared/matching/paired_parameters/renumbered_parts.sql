-- step: Kinds of parts of which one was put in before others, which have other
--   numbers since: the side with fewer has none that the other lacks.
-- grain: pair, kind of part
SELECT b.base_id, b.own_id, b.head
FROM (
  SELECT
    base_id, own_id, head, count_if(is_own) AS own_count,
    count_if(NOT is_own) AS base_count
  FROM numbered_parts
  GROUP BY base_id, own_id, head
  HAVING own_count <> base_count
) AS b
JOIN numbered_parts AS x USING (base_id, own_id, head)
LEFT JOIN numbered_parts AS y
  ON y.base_id = x.base_id
  AND y.own_id = x.own_id
  AND y.head = x.head
  AND y.is_own <> x.is_own
  AND y.contents = x.contents
  AND y.ordinal = x.ordinal
WHERE x.is_own = (b.own_count < b.base_count)
GROUP BY b.base_id, b.own_id, b.head
HAVING count(y.part) = count(*)
  AND bool_or(y.part <> x.part)
