-- step: Caches that are written by parts, and of which less than half is read
--   at a time, always as many positions in one dimension and more than are
--   written, where they are written: a loop of its own may read them all, part
--   by part. And all arrays of their dimensions and type.
-- grain: value
WITH RECURSIVE forms AS (
  SELECT DISTINCT v.module_id, v.dimensions, v.element_type
  FROM arguments AS a
  JOIN arrays AS v USING (module_id, value_id)
  JOIN remedy_rules() AS r
    ON r.rule_id = 'halve_cache'
    AND regexp_matches(lower(v.name), r.name_pattern)
  WHERE v.dimensions LIKE '%,%,%'
),
-- The computation that runs a fusion.
homes AS MATERIALIZED (
  SELECT c.module_id, c.computation_id, c.computation_id AS home_id
  FROM computations AS c
  SEMI JOIN forms AS f ON f.module_id = c.module_id
  WHERE c.kind <> 'fusion'
  UNION
  SELECT h.module_id, c.computation_id, h.home_id
  FROM homes AS h
  JOIN scheduled_instructions AS i USING (module_id, computation_id)
  JOIN called_computations AS c
    ON c.module_id = i.module_id
    AND c.instruction_id = i.instruction_id
  WHERE i.opcode = 'fusion'
),
shaped AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.opcode, h.home_id,
    regexp_extract(i.shape, '^\(?(\w+)\[', 1) AS element_type,
    regexp_extract(i.shape, '^\w+\[([0-9,]+)\]', 1) AS dimensions
  FROM scheduled_instructions AS i
  SEMI JOIN forms AS f ON f.module_id = i.module_id
  LEFT JOIN homes AS h
    ON h.module_id = i.module_id
    AND h.computation_id = i.computation_id
),
uses AS MATERIALIZED (
  SELECT
    f.module_id, f.dimensions, f.element_type, r.opcode, o.operand_index,
    r.instruction_id, r.home_id, r.dimensions AS result_dimensions
  FROM forms AS f
  JOIN shaped AS s USING (module_id, dimensions, element_type)
  JOIN operands AS o
    ON o.module_id = s.module_id
    AND o.operand_id = s.instruction_id
  JOIN shaped AS r
    ON r.module_id = o.module_id
    AND r.instruction_id = o.instruction_id
),
-- In which dimension a part is smaller, and its size there.
parts AS (
  SELECT
    u.module_id, u.dimensions, u.element_type, u.home_id,
    u.opcode = 'dynamic-slice' AS is_read,
    list_filter(
      list_zip(
        range(1, 1 + len(string_split(u.dimensions, ','))),
        string_split(u.dimensions, ','), string_split(p.dimensions, ',')
      ), lambda x: x[2] <> x[3]
    ) AS differing
  FROM uses AS u
  LEFT JOIN operands AS o
    ON o.module_id = u.module_id
    AND o.instruction_id = u.instruction_id
    AND o.operand_index = 1
    AND u.opcode = 'dynamic-update-slice'
  JOIN shaped AS p
    ON p.module_id = u.module_id
    AND p.instruction_id = coalesce(o.operand_id, u.instruction_id)
  WHERE u.opcode IN ('dynamic-slice', 'dynamic-update-slice')
    AND u.operand_index = 0
),
windows AS (
  SELECT
    p.module_id, p.dimensions, p.element_type,
    max(CAST(p.differing[1][3] AS BIGINT)) FILTER (WHERE p.is_read) AS width,
    max(CAST(p.differing[1][2] AS BIGINT)) AS length
  FROM parts AS p
  GROUP BY p.module_id, p.dimensions, p.element_type
  HAVING count(DISTINCT p.home_id) = 1
    AND bool_and(len(p.differing) = 1)
    AND count(DISTINCT p.differing[1][1]) = 1
    AND count(DISTINCT p.differing[1][3]) FILTER (WHERE p.is_read) = 1
    AND 2 * width <= length
    AND width > max(CAST(p.differing[1][3] AS BIGINT))
      FILTER (WHERE NOT p.is_read)
),
read_otherwise AS (
  SELECT DISTINCT u.module_id, u.dimensions, u.element_type
  FROM uses AS u
  WHERE u.opcode NOT IN (
      'bitcast', 'call', 'conditional', 'copy', 'copy-done', 'copy-start',
      'dynamic-slice', 'dynamic-update-slice', 'fusion', 'get-tuple-element',
      'opt-barrier', 'tuple', 'while'
    )
    -- What reads it in other dimensions is not looked for.
    OR u.opcode = 'bitcast' AND u.result_dimensions <> u.dimensions
)
SELECT
  v.module_id, v.value_id, format(
    'caches of which {:,} of {:,} positions are read', w.width, w.length
  ) AS subject, w.length - w.width AS part, w.length AS whole
FROM windows AS w
JOIN arrays AS v USING (module_id, dimensions, element_type)
ANTI JOIN read_otherwise AS o USING (module_id, dimensions, element_type)
