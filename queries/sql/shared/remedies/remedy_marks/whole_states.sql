-- step: Optimiser state that each device holds whole: the gradients of its
--   dimensions are summed over all devices, or it is several times as large as
--   the part of the weight that it belongs to.
-- grain: argument
WITH partitioned AS MATERIALIZED (
  SELECT DISTINCT m.module_id, s.num_partitions
  FROM selected_contents() AS m
  JOIN modules AS s USING (module_id)
  WHERE s.num_partitions > 1
),
states AS MATERIALIZED (
  SELECT
    a.module_id, a.allocation_id, a.root, a.name, a.dimensions,
    list_product(list_transform(
      string_split(a.dimensions, ','), lambda x: TRY_CAST(x AS DOUBLE)
    )) AS elements,
    p.num_partitions
  FROM arguments AS a
  JOIN partitioned AS p USING (module_id)
  JOIN allocations AS l
    ON l.module_id = a.module_id
    AND l.allocation_id = a.allocation_id
  JOIN parameter_readers() AS r
    ON r.module_id = a.module_id
    AND r.parameter_number = l.parameter_number
  WHERE r.is_state
    AND a.dimensions LIKE '%,%'
),
summed AS MATERIALIZED (
  SELECT DISTINCT v.module_id, v.dimensions
  FROM arrays AS v
  WHERE v.opcode IN ('all-reduce', 'all-reduce-start', 'all-reduce-done')
),
parts AS (
  SELECT
    s.module_id, s.allocation_id,
    max(s.elements / list_product(list_transform(
      string_split(a.dimensions, ','), lambda x: TRY_CAST(x AS DOUBLE)
    ))) AS times
  FROM states AS s
  JOIN arguments AS a
    ON a.module_id = s.module_id
    AND a.root <> s.root
    AND a.dimensions LIKE '%,%'
    AND strpos(a.name, '[') > 0
    AND ends_with(s.name, substr(a.name, strpos(a.name, '[')))
  GROUP BY s.module_id, s.allocation_id
)
SELECT
  s.module_id, s.allocation_id, s.root, s.dimensions,
  coalesce(p.times, 1) > 1 AS is_larger,
  CAST(CASE WHEN p.times > 1 THEN least(p.times, s.num_partitions)
    ELSE s.num_partitions END AS BIGINT) AS partitions
FROM states AS s
LEFT JOIN summed AS r
  ON r.module_id = s.module_id
  AND r.dimensions = s.dimensions
LEFT JOIN parts AS p
  ON p.module_id = s.module_id
  AND p.allocation_id = s.allocation_id
WHERE p.times >= 2
  OR (r.module_id IS NOT NULL AND coalesce(p.times, 1) = 1)
