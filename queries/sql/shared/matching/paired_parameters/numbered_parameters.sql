-- step: Parameters of parts of a model that flax numbers in the order of their
--   calls: of Block_0, Block_1. head: what is before the number, tail: what is
--   behind it, with the dimensions.
-- grain: pair, side, parameter
SELECT
  p.base_id, p.own_id, m.module_id = p.own_id AS is_own, m.parameter_number,
  m.name, regexp_extract(m.argument, '^(.*?[A-Za-z]_)\d+\W', 1) AS head,
  regexp_extract(m.argument, '^.*?[A-Za-z]_(\d+)\W', 1) AS part,
  regexp_replace(m.argument, '^.*?[A-Za-z]_\d+', '') || m.dimensions AS tail
FROM asked_pairs AS p
JOIN named_parameters AS m ON m.module_id IN (p.base_id, p.own_id)
WHERE p.base_id <> p.own_id
  AND m.is_alone
  AND regexp_matches(m.argument, '[A-Za-z]_\d+\W')
