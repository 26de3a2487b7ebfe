-- step: Products of matrices of which only a few rows or columns are read, by
--   their index, in programs without a backward pass: these can be selected
--   of an operand. Numbers that are picked one by one, as a diagonal, are not
--   the product of selected rows.
-- grain: value
WITH made AS MATERIALIZED (
  SELECT v.module_id, v.value_id, v.size_bytes
  FROM arrays AS v
  JOIN program_traits AS t
    ON t.module_id = v.module_id
    AND NOT t.has_backward
  WHERE v.kind = 'temp'
    AND v.dimensions LIKE '%,%'
    -- Also by a kernel of a CPU library, which is a fusion.
    AND v.opcode IN ('convolution', 'dot', 'fusion')
    AND v.name LIKE '%/dot_general'
),
instructions_with_opcodes AS (
  SELECT
    i.module_id, i.instruction_id, i.computation_id,
    CASE
      WHEN i.opcode = 'gather'
        AND NOT regexp_matches(
          f.attributes, 'slice_sizes=\{[^}]*([2-9]|\d\d)'
        )
        THEN 'gather of numbers'
      ELSE i.opcode
    END AS opcode
  FROM scheduled_instructions AS i
  JOIN store.instructions AS s
    ON s.module_id = i.module_id
    AND s.instruction_id = i.instruction_id
  JOIN store.instruction_forms AS f ON f.form_id = s.form_id
),
-- What an instruction computes, in its fusion, too.
computing AS (
  SELECT i.module_id, i.instruction_id, i.opcode
  FROM instructions_with_opcodes AS i
  UNION ALL
  SELECT c.module_id, c.instruction_id, i.opcode
  FROM called_computations AS c
  JOIN instructions_with_opcodes AS i USING (module_id, computation_id)
),
-- Selecting comes before whatever is computed number by number.
selecting AS MATERIALIZED (
  SELECT c.module_id, c.instruction_id
  FROM computing AS c
  SEMI JOIN store.value_uses AS u
    ON u.module_id = c.module_id
    AND u.instruction_id = c.instruction_id
  GROUP BY c.module_id, c.instruction_id
  HAVING bool_or(c.opcode IN ('dynamic-slice', 'gather', 'slice'))
    AND count_if(c.opcode IN (
      'call', 'convolution', 'custom-call', 'dot', 'dynamic-update-slice',
      'fft', 'gather of numbers', 'reduce', 'reduce-window', 'reverse',
      'scatter', 'sort', 'tuple', 'while'
    )) = 0
)
SELECT m.module_id, m.value_id
FROM made AS m
JOIN store.value_uses AS u USING (module_id, value_id)
JOIN scheduled_instructions AS r
  ON r.module_id = u.module_id
  AND r.instruction_id = u.instruction_id
LEFT JOIN selecting AS s
  ON s.module_id = u.module_id
  AND s.instruction_id = u.instruction_id
GROUP BY m.module_id, m.value_id, m.size_bytes
HAVING count(*) = count(s.instruction_id)
  AND 4 * sum(r.logical_bytes) <= m.size_bytes
