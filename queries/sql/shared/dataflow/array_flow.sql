-- title: Where arrays are passed on
-- question: Which array, or part of one, is what an instruction holds?
-- definition: An edge for each array that an instruction takes from another as
--   it is or in another form: results of tuple, get-tuple-element,
--   opt-barrier, while, conditional, call and fusion, from the root of what is
--   called, and its parameters, from what the caller passes; copy, bitcast,
--   slice, dynamic-slice, convert, reshape, transpose, copy-start, copy-done,
--   and asynchronous starts, updates and dones. dynamic-update-slice takes
--   from both of its arrays. A loop's array comes from before the loop and
--   from the end of its body. A copy-start holds its copy as element 0, an
--   asynchronous start its result as 1, unless that is a tuple. Elements of
--   tuples within tuples are not distinguished. Instructions that compute
--   something have no edge.
-- grain: module content, instruction, element, source
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column element INTEGER id neutral: Element of a tuple; -1 for an array.
-- column source_id INTEGER id neutral: Instruction that it comes from.
-- column source_element INTEGER id neutral: Element of that; -1 for an array.
-- column is_whole BOOLEAN flag neutral: Whether it is the same array, not a
--   part or another form of it.
WITH there AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.opcode,
    i.parameter_number,
    TRY_CAST(regexp_extract(i.attributes, '^index=([0-9]+)', 1) AS INTEGER)
      AS tuple_index
  FROM selected_instructions() AS i
  WHERE i.opcode IN (
      'get-tuple-element', 'tuple', 'while', 'conditional', 'call', 'fusion',
      'parameter', 'opt-barrier', 'bitcast', 'copy', 'copy-start', 'copy-done',
      'async-start', 'async-update', 'async-done', 'slice', 'dynamic-slice',
      'dynamic-update-slice', 'convert', 'reshape', 'transpose'
    )
),
modules_there AS MATERIALIZED (
  SELECT unnest(list(DISTINCT module_id)) AS module_id FROM there
),
read AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.operand_index, p.operand_id
  FROM modules_there
  JOIN operands AS p USING (module_id)
  WHERE p.operand_id IS NOT NULL
),
widths AS MATERIALIZED (
  -- Of tuples.
  SELECT module_id, instruction_id, count(*) AS width
  FROM read
  JOIN there AS t USING (module_id, instruction_id)
  WHERE t.opcode = 'tuple'
  GROUP BY module_id, instruction_id
),
called AS MATERIALIZED (
  SELECT
    c.module_id, t.instruction_id, t.opcode, c.computation_id, c.role,
    row_number() OVER (
      PARTITION BY c.module_id, c.instruction_id
      ORDER BY c.role DESC, c.ordinal
    ) AS branch,
    d.root_instruction_id AS root_id, w.width
  FROM modules_there
  JOIN called_computations AS c USING (module_id)
  JOIN there AS t USING (module_id, instruction_id)
  JOIN computations AS d
    ON d.module_id = c.module_id
    AND d.computation_id = c.computation_id
  LEFT JOIN widths AS w
    ON w.module_id = c.module_id
    AND w.instruction_id = d.root_instruction_id
  WHERE t.opcode IN ('while', 'conditional', 'call', 'fusion', 'async-start')
),
-- Parameters are what the caller passes, of loops also what the body made.
parameters AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id, c.opcode, p.instruction_id AS parameter_id,
    CASE c.opcode
      WHEN 'while' THEN 0
      WHEN 'conditional' THEN c.branch
      ELSE p.parameter_number
    END AS operand_index,
    CASE c.opcode WHEN 'while' THEN b.width END AS body_width,
    b.root_id AS body_root_id
  FROM called AS c
  JOIN there AS p
    ON p.module_id = c.module_id
    AND p.computation_id = c.computation_id
  LEFT JOIN called AS b
    ON b.module_id = c.module_id
    AND b.instruction_id = c.instruction_id
    AND b.role = 'body'
  WHERE p.opcode = 'parameter'
),
elements AS MATERIALIZED (
  -- Those that anything asks for.
  SELECT -1 AS element
  UNION ALL
  SELECT DISTINCT tuple_index
  FROM there
  WHERE tuple_index IS NOT NULL
  UNION
  SELECT DISTINCT operand_index
  FROM read
  JOIN there AS t USING (module_id, instruction_id)
  WHERE t.opcode = 'tuple'
)
SELECT
  t.module_id, t.instruction_id, -1 AS element, r.operand_id AS source_id,
  CASE t.opcode WHEN 'get-tuple-element' THEN t.tuple_index
    WHEN 'copy-done' THEN 0 ELSE -1 END AS source_element,
  t.opcode IN ('get-tuple-element', 'copy-done', 'bitcast', 'copy')
  OR (t.opcode = 'dynamic-update-slice' AND r.operand_index = 0)
    AS is_whole
FROM there AS t
JOIN read AS r USING (module_id, instruction_id)
WHERE t.opcode IN (
    'get-tuple-element', 'bitcast', 'copy', 'copy-done', 'slice',
    'dynamic-slice', 'convert', 'reshape', 'transpose', 'dynamic-update-slice'
  )
  AND (
    r.operand_index = 0
    OR (t.opcode = 'dynamic-update-slice' AND r.operand_index = 1)
  )
UNION ALL
SELECT
  t.module_id, t.instruction_id, 0, r.operand_id, -1, TRUE
FROM there AS t
JOIN read AS r USING (module_id, instruction_id)
WHERE t.opcode = 'copy-start'
  AND r.operand_index = 0
UNION ALL
SELECT t.module_id, t.instruction_id, r.operand_index, r.operand_id, -1, TRUE
FROM there AS t
JOIN read AS r USING (module_id, instruction_id)
WHERE t.opcode = 'tuple'
UNION ALL
SELECT t.module_id, t.instruction_id, e.element, r.operand_id, e.element, TRUE
FROM there AS t
JOIN read AS r USING (module_id, instruction_id)
LEFT JOIN called AS b
  ON b.module_id = t.module_id
  AND b.instruction_id = t.instruction_id
  AND b.role = 'body'
JOIN elements AS e
  ON b.width IS NULL
  OR (e.element >= 0 AND e.element < b.width)
WHERE t.opcode IN ('while', 'opt-barrier')
UNION ALL
-- Results of what is called. An asynchronous start holds its result as 1.
SELECT
  c.module_id, c.instruction_id,
  CASE c.opcode WHEN 'async-start' THEN 1 ELSE e.element END,
  c.root_id, e.element, TRUE
FROM called AS c
JOIN elements AS e
  ON CASE
    WHEN c.width IS NOT NULL
      THEN e.element >= 0
        AND e.element < c.width
        AND c.opcode <> 'async-start'
    ELSE e.element = -1 OR c.opcode IN ('while', 'conditional', 'call')
  END
WHERE c.role <> 'condition'
UNION ALL
SELECT t.module_id, t.instruction_id, o.element, r.operand_id, 1, TRUE
FROM there AS t
JOIN read AS r USING (module_id, instruction_id)
CROSS JOIN (VALUES (-1), (1)) AS o (element)
WHERE (t.opcode = 'async-done' AND o.element = -1)
  OR (t.opcode = 'async-update' AND o.element = 1)
UNION ALL
SELECT p.module_id, p.parameter_id, -1, r.operand_id, -1, TRUE
FROM parameters AS p
JOIN read AS r USING (module_id, instruction_id, operand_index)
UNION ALL
SELECT
  p.module_id, p.parameter_id, e.element, r.operand_id, e.element, TRUE
FROM parameters AS p
JOIN read AS r USING (module_id, instruction_id, operand_index)
JOIN elements AS e
  ON e.element >= 0
  AND e.element < coalesce(p.body_width, e.element + 1)
WHERE p.opcode IN ('while', 'conditional', 'call')
UNION ALL
SELECT
  p.module_id, p.parameter_id, e.element, p.body_root_id, e.element, TRUE
FROM parameters AS p
JOIN elements AS e
  ON e.element >= 0
  AND e.element < coalesce(p.body_width, e.element + 1)
WHERE p.opcode = 'while'
  AND p.body_root_id IS NOT NULL
