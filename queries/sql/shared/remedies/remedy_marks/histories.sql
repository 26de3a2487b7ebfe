-- step: Arrays that a loop fills with a part for each iteration: results of
--   the program that collect them, and temporary ones of which nothing but a
--   small part is read, after the loop. Arrays of the same dimensions and type
--   are forms of one, passed on by loops and conditions; so are slices that
--   hold a part of the iterations, and what is computed of these arrays
--   outside of loops with a part for each iteration as well.
-- grain: value
WITH RECURSIVE stacked AS MATERIALIZED (
  SELECT
    l.module_id, l.loop_id, l.loop_name, l.value_id, l.allocation_id,
    l.offset_bytes, l.size_bytes, l.kind, l.dimensions, l.element_type
  FROM loop_arrays AS l
  WHERE l.dimensions LIKE '%,%'
),
filled AS MATERIALIZED (
  SELECT DISTINCT s.module_id, s.loop_id, s.value_id
  FROM stacked AS s
  JOIN described_values AS d
    ON d.module_id = s.module_id
    AND d.allocation_id = s.allocation_id
    AND d.offset_bytes = s.offset_bytes
    AND d.dimensions = s.dimensions
  WHERE d.instruction LIKE '%dynamic-update-slice%'
    OR d.opcode = 'dynamic-update-slice'
    OR d.name LIKE '%dynamic_update_slice%'
),
forms AS MATERIALIZED (
  SELECT
    s.module_id, s.dimensions, s.element_type, min(s.loop_name) AS loop_name,
    max(s.size_bytes) AS size_bytes
  FROM stacked AS s
  JOIN filled AS f USING (module_id, loop_id, value_id)
  WHERE s.kind = 'temp'
  GROUP BY s.module_id, s.dimensions, s.element_type
),
whole_members AS MATERIALIZED (
  SELECT f.*, v.value_id, v.kind
  FROM forms AS f
  JOIN arrays AS v USING (module_id, dimensions, element_type)
),
form_members AS MATERIALIZED (
  SELECT m.* FROM whole_members AS m
  UNION
  SELECT m.* REPLACE (v.value_id AS value_id, v.kind AS kind)
  FROM whole_members AS m
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
    AND v.element_type = m.element_type
    AND v.dimensions <> m.dimensions
    AND substr(v.dimensions, strpos(v.dimensions, ','))
      = substr(m.dimensions, strpos(m.dimensions, ','))
  WHERE v.instruction LIKE '%slice%'
    AND v.instruction NOT LIKE '%dynamic%'
),
-- Of dimensions 252,64,3 a first one of 252, of 16,128 or of 48,384.
first_sizes AS MATERIALIZED (
  SELECT
    f.module_id, f.dimensions, f.element_type,
    list_transform(range(1, len(f.sizes) + 1), lambda n: CAST(
      list_product(f.sizes[:n]) AS BIGINT
    )) AS sizes
  FROM (
    SELECT
      module_id, dimensions, element_type,
      CAST(string_split(dimensions, ',') AS DOUBLE[]) AS sizes
    FROM forms
    WHERE regexp_full_match(dimensions, '[0-9,]+')
  ) AS f
  WHERE f.sizes[1] >= 8
),
members AS MATERIALIZED (
  SELECT m.* FROM form_members AS m
  UNION
  SELECT m.* REPLACE (v.value_id AS value_id, v.kind AS kind)
  FROM members AS m
  JOIN first_sizes AS f USING (module_id, dimensions, element_type)
  JOIN store.value_uses AS u
    ON u.module_id = m.module_id
    AND u.value_id = m.value_id
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
    AND list_contains(
      f.sizes, TRY_CAST(split_part(v.dimensions, ',', 1) AS BIGINT)
    )
  JOIN scheduled_instructions AS s
    ON s.module_id = v.module_id
    AND s.instruction_id = v.instruction_id
  JOIN computations AS c
    ON c.module_id = s.module_id
    AND c.computation_id = s.computation_id
  WHERE v.kind = 'temp'
    AND c.kind = 'entry'
    AND s.opcode NOT IN ('while', 'conditional', 'call')
),
-- Those that add up many elements, themselves or in a fusion.
reducing AS MATERIALIZED (
  SELECT s.module_id, s.instruction_id
  FROM scheduled_instructions AS s
  WHERE s.opcode IN ('reduce', 'dot')
  UNION
  SELECT c.module_id, c.instruction_id
  FROM called_computations AS c
  JOIN scheduled_instructions AS s USING (module_id, computation_id)
  WHERE s.opcode IN ('reduce', 'dot')
),
readers AS MATERIALIZED (
  SELECT
    m.module_id, m.dimensions, m.element_type, u.instruction_id,
    any_value(f.opcode) AS opcode, any_value(c.kind) AS computation_kind,
    coalesce(max(v.size_bytes), 0) AS result_bytes,
    bool_or(s.instruction_id IS NOT NULL) AS is_reducing,
    coalesce(bool_or(
      v.dimensions = m.dimensions AND v.element_type = m.element_type
    ), FALSE)
    OR bool_or(p.value_id IS NOT NULL) AS is_passed_on
  FROM members AS m
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN store.instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  JOIN store.instruction_forms AS f USING (form_id)
  JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  LEFT JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
  LEFT JOIN members AS p
    ON p.module_id = v.module_id
    AND p.value_id = v.value_id
    AND p.dimensions = m.dimensions
    AND p.element_type = m.element_type
  LEFT JOIN reducing AS s
    ON s.module_id = u.module_id
    AND s.instruction_id = u.instruction_id
  WHERE f.opcode <> 'tuple'
  GROUP BY m.module_id, m.dimensions, m.element_type, u.instruction_id
),
read_in_part AS (
  SELECT
    r.module_id, r.dimensions, r.element_type,
    bool_or(NOT r.is_passed_on AND r.is_reducing) AS is_reduced
  FROM readers AS r
  JOIN forms AS f USING (module_id, dimensions, element_type)
  GROUP BY r.module_id, r.dimensions, r.element_type, f.size_bytes
  HAVING bool_and(r.is_passed_on OR r.computation_kind = 'entry')
    AND bool_or(NOT r.is_passed_on)
    AND 8 * sum(CAST(r.result_bytes AS HUGEINT))
      FILTER (WHERE NOT r.is_passed_on) <= f.size_bytes
),
saved_forms AS (
  SELECT DISTINCT s.module_id, s.dimensions, s.element_type
  FROM saved_arrays AS s
)
SELECT d.module_id, d.value_id, any_value(s.loop_name) AS loop_name,
  FALSE AS is_read_in_part, FALSE AS is_reduced
FROM stacked AS s
JOIN filled AS f USING (module_id, loop_id, value_id)
JOIN arrays AS d
  ON d.module_id = s.module_id
  AND d.allocation_id = s.allocation_id
  AND d.dimensions = s.dimensions
  AND d.element_type = s.element_type
WHERE s.kind = 'live_out'
GROUP BY d.module_id, d.value_id
UNION ALL
SELECT m.module_id, m.value_id, m.loop_name, TRUE, p.is_reduced
FROM members AS m
JOIN read_in_part AS p USING (module_id, dimensions, element_type)
ANTI JOIN saved_forms AS v
  ON v.module_id = m.module_id
  AND v.dimensions = m.dimensions
  AND v.element_type = m.element_type
WHERE m.kind = 'temp'
