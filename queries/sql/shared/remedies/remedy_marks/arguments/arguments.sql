-- step: Arguments, and whether they are inputs. What has parts that are
--   replaced, beside other arguments, is no input: a replicated weight may
--   come out sharded.
-- grain: argument, allocation
WITH every_argument AS MATERIALIZED (
  SELECT DISTINCT
    v.module_id, v.allocation_id, v.color, v.name, v.dimensions,
    regexp_extract(v.name, '^[^.\[]*') AS root,
    a.is_live_out OR p.parameter_id IS NOT NULL AS is_replaced
  FROM arrays AS v
  JOIN allocations AS a
    ON a.module_id = v.module_id
    AND a.allocation_id = v.allocation_id
  LEFT JOIN missed_pairs AS p
    ON p.module_id = v.module_id
    AND p.parameter_id = v.allocation_id
  WHERE v.kind = 'parameter'
    AND v.opcode = 'parameter'
),
-- What has parts that are replaced, beside other arguments, is no input: a
-- replicated weight may come out sharded.
state AS MATERIALIZED (
  SELECT a.module_id, a.root
  FROM every_argument AS a
  SEMI JOIN (
    SELECT module_id
    FROM every_argument
    GROUP BY module_id
    HAVING count(DISTINCT root) > 1
  ) AS m ON m.module_id = a.module_id
  GROUP BY a.module_id, a.root
  HAVING bool_or(a.is_replaced)
)
SELECT
  a.module_id, a.allocation_id, a.color, a.name, a.dimensions,
  NOT a.is_replaced AND s.root IS NULL
    AND NOT regexp_matches(a.name, '(^|[^a-z])(params?|weights?|state)')
    AS is_input
FROM every_argument AS a
LEFT JOIN state AS s
  ON s.module_id = a.module_id
  AND s.root = a.root
