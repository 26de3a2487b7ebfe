-- step: Parameters of one name, or of one part that has another number.
-- grain: pair, parameter
WITH by_part AS (
  SELECT
    b.base_id, b.own_id, m.parameter_number AS base_number,
    n.parameter_number AS own_number, m.name AS base_name, n.name AS own_name
  FROM renumbered_parts AS r
  JOIN numbered_parts AS b USING (base_id, own_id, head)
  JOIN numbered_parts AS c USING (base_id, own_id, head, contents, ordinal)
  JOIN numbered_parameters AS m
    ON m.base_id = b.base_id
    AND m.own_id = b.own_id
    AND m.head = b.head
    AND m.part = b.part
    AND NOT m.is_own
  JOIN numbered_parameters AS n
    ON n.base_id = c.base_id
    AND n.own_id = c.own_id
    AND n.head = c.head
    AND n.part = c.part
    AND n.tail = m.tail
    AND n.is_own
  WHERE NOT b.is_own
    AND c.is_own
)
SELECT
  p.base_id, p.own_id, b.parameter_number AS base_number,
  c.parameter_number AS own_number, b.name AS base_name, c.name AS own_name
FROM asked_pairs AS p
JOIN named_parameters AS b ON b.module_id = p.base_id
JOIN named_parameters AS c
  ON c.module_id = p.own_id
  AND c.argument = b.argument
ANTI JOIN renumbered_parts AS r
  ON r.base_id = p.base_id
  AND r.own_id = p.own_id
  AND r.head = regexp_extract(b.argument, '^(.*?[A-Za-z]_)\d+\W', 1)
WHERE b.is_alone
  AND c.is_alone
UNION ALL
FROM by_part
