-- step: Arguments, and whether they are inputs. What has parts that are
--   replaced, beside other arguments, is no input: a replicated weight may
--   come out sharded. Nor is a tree whose arrays differ in their first
--   dimension, such as frozen weights: the arrays of a batch share it, unless
--   it is called batch, inputs, data or examples. What has_examples is such an
--   input, but a key of random numbers: two words, or four.
-- grain: argument, allocation
WITH every_argument AS MATERIALIZED (
  SELECT DISTINCT
    v.module_id, v.allocation_id, v.color, v.name, v.dimensions,
    v.element_type, v.value_id, v.instruction_id,
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
    OR (
      a.root <> ''
      AND NOT regexp_full_match(a.root, '(batch|inputs?|data|examples?)')
      AND count(DISTINCT split_part(a.dimensions, ',', 1))
        FILTER (WHERE a.dimensions <> '') > 1
    )
),
named AS (
  SELECT
    a.module_id, a.allocation_id, a.color, a.name, a.dimensions,
    a.element_type, a.root, a.value_id, a.instruction_id, a.is_replaced,
    NOT a.is_replaced AND s.root IS NULL
      -- Weights of examples are a part of the batch.
      AND (
        regexp_full_match(a.root, '(batch|inputs?|data|examples?)')
        OR NOT regexp_matches(a.name, '(^|[^a-z])(params?|weights?|state)')
      )
      AS is_input
  FROM every_argument AS a
  LEFT JOIN state AS s
    ON s.module_id = a.module_id
    AND s.root = a.root
)
SELECT
  n.*,
  n.is_input AND n.dimensions <> ''
    AND NOT (n.element_type = 'u32' AND n.dimensions IN ('2', '4'))
    AS has_examples
FROM named AS n
