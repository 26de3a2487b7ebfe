-- step: Arrays that a loop fills with a part for each iteration: results of
--   the program that collect them, and temporary ones of which nothing but a
--   small part is read, after the loop, in one pass.
-- grain: value
WITH RECURSIVE read_in_part AS (
  SELECT
    r.module_id, r.dimensions, r.element_type,
    bool_or(NOT r.is_passed_on AND r.is_reducing) AS is_reduced
  FROM history_readers AS r
  JOIN history_forms AS f USING (module_id, dimensions, element_type)
  GROUP BY r.module_id, r.dimensions, r.element_type, f.size_bytes
  HAVING bool_and(r.is_passed_on OR r.computation_kind = 'entry')
    AND bool_or(NOT r.is_passed_on)
    AND NOT bool_or(r.is_mixing)
    AND 8 * sum(CAST(r.result_bytes AS HUGEINT))
      FILTER (WHERE NOT r.is_passed_on) <= f.size_bytes
),
-- What is computed of what is read: of a mean, what each part differs from it.
behind AS MATERIALIZED (
  SELECT r.module_id, r.dimensions, r.element_type, v.value_id
  FROM history_readers AS r
  SEMI JOIN read_in_part AS p USING (module_id, dimensions, element_type)
  JOIN arrays AS v USING (module_id, instruction_id)
  WHERE NOT r.is_passed_on
  UNION
  SELECT b.module_id, b.dimensions, b.element_type, v.value_id
  FROM behind AS b
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
),
-- Instructions with a result for each part.
of_parts AS MATERIALIZED (
  SELECT DISTINCT s.module_id, s.instruction_id, s.opcode
  FROM scheduled_instructions AS s
  JOIN read_in_part AS p
    ON p.module_id = s.module_id
    AND TRY_CAST(
      regexp_extract(s.shape, '\[(\d+)', 1) AS BIGINT
    ) % TRY_CAST(split_part(p.dimensions, ',', 1) AS BIGINT) = 0
),
-- Those that join each part with what there is once for all parts, and not
-- with what there is of each.
joining AS MATERIALIZED (
  SELECT DISTINCT s.module_id, s.instruction_id
  FROM of_parts AS s
  JOIN operands AS o USING (module_id, instruction_id)
  JOIN scheduled_instructions AS b
    ON b.module_id = o.module_id
    AND b.instruction_id = o.operand_id
  JOIN operands AS d
    ON d.module_id = b.module_id
    AND d.instruction_id = b.instruction_id
  JOIN scheduled_instructions AS e
    ON e.module_id = d.module_id
    AND e.instruction_id = d.operand_id
  ANTI JOIN read_in_part AS p
    ON p.module_id = e.module_id
    AND split_part(p.dimensions, ',', 1)
      = regexp_extract(e.shape, '^\w+\[(\d+)', 1)
  WHERE b.opcode = 'broadcast'
    AND e.opcode <> 'constant'
    AND s.opcode IN (
      'add', 'atan2', 'compare', 'divide', 'maximum', 'minimum', 'power',
      'subtract'
    )
),
-- Sums and products are of the sums of each power, as a variance is; and the
-- slope of a least or greatest part compares: a loop that keeps that has it.
contents AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id,
    bool_or(j.instruction_id IS NOT NULL) AS is_joining,
    count(*) FILTER (WHERE s.opcode = 'reduce') > 1 AS is_twice,
    bool_and(
      p.instruction_id IS NULL
      OR s.opcode IN (
        'add', 'and', 'bitcast', 'broadcast', 'constant', 'convert', 'copy',
        'divide', 'dot', 'multiply', 'negate', 'parameter', 'reduce',
        'reshape', 'select', 'slice', 'subtract', 'transpose'
      )
      OR (s.opcode = 'compare' AND s.is_differentiated)
    ) AS is_of_powers
  FROM (
    SELECT module_id, instruction_id, computation_id
    FROM called_computations
    UNION ALL
    SELECT module_id, instruction_id, NULL
    FROM scheduled_instructions
  ) AS c
  JOIN scheduled_instructions AS s
    ON s.module_id = c.module_id
    AND coalesce(
      s.computation_id = c.computation_id,
      s.instruction_id = c.instruction_id AND s.opcode <> 'fusion'
    )
  SEMI JOIN history_readers AS r
    ON r.module_id = c.module_id
    AND r.instruction_id = c.instruction_id
  LEFT JOIN of_parts AS p
    ON p.module_id = s.module_id
    AND p.instruction_id = s.instruction_id
  LEFT JOIN joining AS j
    ON j.module_id = s.module_id
    AND j.instruction_id = s.instruction_id
  GROUP BY c.module_id, c.instruction_id
),
-- Readers that need what others have read of all parts, or a fusion that has
-- read them itself: that is a second pass.
second_passes AS (
  SELECT r.module_id, r.dimensions, r.element_type
  FROM history_readers AS r
  JOIN contents AS c USING (module_id, instruction_id)
  LEFT JOIN (
    SELECT
      b.module_id, b.dimensions, b.element_type, u.instruction_id,
      bool_or(m.value_id IS NOT NULL) AS is_member
    FROM behind AS b
    JOIN store.value_uses AS u USING (module_id, value_id)
    LEFT JOIN history_members AS m
      USING (module_id, dimensions, element_type, value_id)
    GROUP BY b.module_id, b.dimensions, b.element_type, u.instruction_id
  ) AS b USING (module_id, dimensions, element_type, instruction_id)
  WHERE NOT c.is_of_powers
    AND (
      coalesce(b.is_member, FALSE)
      OR c.is_joining AND (c.is_twice OR b.module_id IS NOT NULL)
    )
),
saved_forms AS (
  SELECT DISTINCT s.module_id, s.dimensions, s.element_type
  FROM saved_arrays AS s
)
SELECT d.module_id, d.value_id, any_value(s.loop_name) AS loop_name,
  FALSE AS is_read_in_part, FALSE AS is_reduced
FROM loop_histories AS s
JOIN arrays AS d
  ON d.module_id = s.module_id
  AND d.allocation_id = s.allocation_id
  AND d.dimensions = s.dimensions
  AND d.element_type = s.element_type
WHERE s.kind = 'live_out'
GROUP BY d.module_id, d.value_id
UNION ALL
SELECT m.module_id, m.value_id, m.loop_name, TRUE, p.is_reduced
FROM history_members AS m
JOIN read_in_part AS p USING (module_id, dimensions, element_type)
ANTI JOIN second_passes AS a
  ON a.module_id = m.module_id
  AND a.dimensions = m.dimensions
  AND a.element_type = m.element_type
ANTI JOIN saved_forms AS v
  ON v.module_id = m.module_id
  AND v.dimensions = m.dimensions
  AND v.element_type = m.element_type
WHERE m.kind = 'temp'
