-- step: Parameters without a partner of that name.
-- grain: pair, side, parameter
SELECT s.*
FROM (
  SELECT p.base_id, p.own_id, FALSE AS is_own, b.*
  FROM asked_pairs AS p
  JOIN named_parameters AS b ON b.module_id = p.base_id
  ANTI JOIN pairs_by_name AS d
    ON d.base_id = p.base_id
    AND d.own_id = p.own_id
    AND d.base_number = b.parameter_number
  UNION ALL
  SELECT p.base_id, p.own_id, TRUE, c.*
  FROM asked_pairs AS p
  JOIN named_parameters AS c ON c.module_id = p.own_id
  ANTI JOIN pairs_by_name AS e
    ON e.base_id = p.base_id
    AND e.own_id = p.own_id
    AND e.own_number = c.parameter_number
) AS s
