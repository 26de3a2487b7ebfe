-- step: Gradients that updates keep waiting: read with a number that is
--   computed from several of them, or what that is computed from. A number
--   that is read with less than four is one array's own, as the norms in
--   Adafactor are, which has factors beside it.
-- grain: value
WITH RECURSIVE shaped AS MATERIALIZED (
  SELECT v.module_id, v.value_id, v.instruction_id, v.start_step, v.end_step
  FROM arrays AS v
  SEMI JOIN updating_programs AS u ON u.module_id = v.module_id
  SEMI JOIN argument_sizes AS a
    ON a.module_id = v.module_id
    AND a.sizes = list_sort(string_split(v.dimensions, ','))
  WHERE v.kind = 'temp'
    AND v.opcode <> 'while'
    -- A copy of an argument is no gradient.
    AND (v.module_id, v.instruction_id) IN (
      SELECT (o.module_id, o.instruction_id)
      FROM operands AS o
      JOIN scheduled_instructions AS i
        ON i.module_id = o.module_id
        AND i.instruction_id = o.operand_id
      WHERE i.opcode <> 'parameter'
    )
),
numbers AS MATERIALIZED (
  SELECT v.module_id, v.value_id, v.instruction_id, v.start_step, v.end_step
  FROM arrays AS v
  SEMI JOIN shaped AS s ON s.module_id = v.module_id
  WHERE v.dimensions = ''
    AND regexp_matches(v.element_type, '^b?f[0-9]')
    AND v.opcode NOT IN ('constant', 'parameter')
),
reading AS MATERIALIZED (
  SELECT u.module_id, u.value_id, u.instruction_id
  FROM (FROM shaped UNION ALL FROM numbers) AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
),
parts_of_sums AS MATERIALIZED (
  SELECT n.module_id, n.value_id, s.value_id AS gradient_id
  FROM numbers AS n
  JOIN shaped AS s USING (module_id, instruction_id)
  UNION
  SELECT n.module_id, n.value_id, s.value_id
  FROM numbers AS n
  JOIN reading AS u USING (module_id, instruction_id)
  JOIN shaped AS s
    ON s.module_id = u.module_id
    AND s.value_id = u.value_id
),
sums AS (
  SELECT n.module_id, n.value_id, n.start_step
  FROM numbers AS n
  JOIN reading AS u USING (module_id, instruction_id)
  JOIN parts_of_sums AS p
    ON p.module_id = u.module_id
    AND p.value_id = u.value_id
  GROUP BY n.module_id, n.value_id, n.start_step
  HAVING count(DISTINCT p.gradient_id) > 1
  UNION
  SELECT n.module_id, n.value_id, n.start_step
  FROM sums AS s
  JOIN reading AS u USING (module_id, value_id)
  JOIN numbers AS n
    ON n.module_id = u.module_id
    AND n.instruction_id = u.instruction_id
),
read_with_sums AS MATERIALIZED (
  SELECT
    g.module_id, g.value_id, s.value_id AS sum_id,
    any_value(s.start_step) AS start_step
  FROM sums AS s
  JOIN reading AS r USING (module_id, value_id)
  JOIN reading AS u
    ON u.module_id = r.module_id
    AND u.instruction_id = r.instruction_id
  JOIN shaped AS g
    ON g.module_id = u.module_id
    AND g.value_id = u.value_id
  WHERE g.start_step < s.start_step
  GROUP BY g.module_id, g.value_id, s.value_id
  QUALIFY count(*) OVER (PARTITION BY g.module_id, s.value_id) >= 4
)
SELECT module_id, value_id FROM read_with_sums
UNION
-- What an update reads a copy of, such as that in another memory space.
SELECT g.module_id, g.value_id
FROM parts_of_sums AS p
JOIN shaped AS g
  ON g.module_id = p.module_id
  AND g.value_id = p.gradient_id
SEMI JOIN read_with_sums AS r
  ON r.module_id = g.module_id
  AND r.start_step BETWEEN g.start_step AND g.end_step
