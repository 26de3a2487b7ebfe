-- step: Arguments of 32 bits that are kept as they are and only read to make
--   16 bits of them. Not where a compiler for CPUs widens these: it would keep
--   them in both.
-- grain: argument
WITH RECURSIVE wide AS MATERIALIZED (
  SELECT a.module_id, a.value_id, a.value_id AS copy_id
  FROM arguments AS a
  ANTI JOIN (
    SELECT w.module_id
    FROM widened_arrays AS w
    JOIN program_traits AS t USING (module_id)
    WHERE t.platform = 'cpu'
      AND w.is_plain
  ) AS w USING (module_id)
  WHERE a.element_type = 'f32'
    AND a.dimensions LIKE '%,%'
    AND NOT a.is_replaced
),
-- A prefetch reads it, and others the copy.
copied AS MATERIALIZED (
  SELECT a.module_id, a.value_id, v.value_id AS copy_id
  FROM wide AS a
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
    AND v.opcode IN ('copy', 'copy-start')
),
reading AS MATERIALIZED (
  SELECT
    a.module_id, a.value_id, u.instruction_id, u.operand_index, i.opcode,
    i.shape
  FROM (FROM wide UNION ALL FROM copied) AS a
  JOIN store.value_uses AS u
    ON u.module_id = a.module_id
    AND u.value_id = a.copy_id
  JOIN scheduled_instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  WHERE i.opcode NOT IN (
    'while', 'tuple', 'bitcast', 'get-tuple-element', 'copy', 'copy-start',
    'copy-done'
  )
),
within AS MATERIALIZED (
  SELECT
    r.module_id, r.value_id, r.instruction_id, r.operand_index,
    k.instruction_id AS inner_id
  FROM reading AS r
  JOIN called_computations AS c
    ON c.module_id = r.module_id
    AND c.instruction_id = r.instruction_id
  JOIN scheduled_instructions AS k
    ON k.module_id = c.module_id
    AND k.computation_id = c.computation_id
    AND k.parameter_number = r.operand_index
  WHERE r.opcode = 'fusion'
),
-- Parts of it are followed to what reads these.
followed AS (
  SELECT
    w.module_id, w.value_id, w.instruction_id, w.inner_id, FALSE AS is_end,
    FALSE AS is_narrow
  FROM within AS w
  UNION
  SELECT
    f.module_id, f.value_id, f.instruction_id, k.instruction_id,
    k.is_root OR k.opcode NOT IN (
      'dynamic-slice', 'slice', 'bitcast', 'reshape', 'copy'
    ) OR regexp_matches(k.shape, '^b?f16\['),
    regexp_matches(k.shape, '^b?f16\[')
  FROM followed AS f
  JOIN operands AS o
    ON o.module_id = f.module_id
    AND o.operand_id = f.inner_id
  JOIN scheduled_instructions AS k
    ON k.module_id = o.module_id
    AND k.instruction_id = o.instruction_id
  WHERE NOT f.is_end
),
inside AS (
  SELECT
    module_id, value_id, instruction_id, bool_and(is_narrow) AS is_narrow
  FROM followed
  WHERE is_end
  GROUP BY module_id, value_id, instruction_id
)
SELECT r.module_id, r.value_id
FROM reading AS r
LEFT JOIN inside AS n USING (module_id, value_id, instruction_id)
GROUP BY r.module_id, r.value_id
HAVING bool_and(
  CASE WHEN r.opcode = 'convert' THEN regexp_matches(r.shape, '^b?f16\[')
    ELSE coalesce(n.is_narrow, FALSE) END
)
