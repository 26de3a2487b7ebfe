-- title: What arrays were made by
-- question: Which instruction computed an array that others passed on?
-- definition: Follows array_flow from the values of the selected modules, and
--   from get-tuple-elements, to instructions that compute something, to
--   parameters of the program and to constants, through loops, branches, calls
--   and fusions. A fusion that computes is not followed inside: it is the
--   origin. Values whose own instruction computes have no row.
-- grain: module content, instruction, element, origin
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column element INTEGER id neutral: Element of its result; -1 for an array.
-- column origin_id INTEGER id neutral: Instruction that made it.
-- column kind VARCHAR name neutral: computed, parameter or constant.
-- column is_whole BOOLEAN flag neutral: Whether it is the same array all the
--   way, not a part or another form of it.
WITH RECURSIVE flow AS MATERIALIZED (
  SELECT * FROM array_flow()
),
modules_there AS MATERIALIZED (
  SELECT unnest(list(DISTINCT module_id)) AS module_id FROM flow
),
described AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.opcode,
    i.opcode IN ('broadcast', 'constant', 'iota')
      OR coalesce(i.custom_call_target = 'AllocateBuffer', FALSE)
      AS is_constant
  FROM selected_instructions() AS i
),
fused AS MATERIALIZED (
  SELECT c.module_id, c.computation_id, c.instruction_id AS fusion_id
  FROM modules_there
  JOIN called_computations AS c USING (module_id)
  JOIN described AS d USING (module_id, instruction_id)
  WHERE d.opcode = 'fusion'
),
starts AS MATERIALIZED (
  SELECT DISTINCT
    v.module_id, v.instruction_id,
    coalesce(
      TRY_CAST(regexp_extract(v.shape_index, '^\{([0-9]+)', 1) AS INTEGER), -1
    ) AS element
  FROM modules_there
  JOIN store."values" AS v USING (module_id)
  WHERE v.instruction_id IS NOT NULL
  UNION
  -- They say which element of a loop an instruction reads.
  SELECT module_id, instruction_id, -1
  FROM described
  WHERE opcode = 'get-tuple-element'
),
walk AS (
  SELECT
    s.module_id, s.instruction_id, s.element, s.instruction_id AS at_id,
    s.element AS at_element, TRUE AS is_whole
  FROM starts AS s
  SEMI JOIN flow AS f USING (module_id, instruction_id, element)
  UNION
  SELECT
    w.module_id, w.instruction_id, w.element, f.source_id, f.source_element,
    w.is_whole AND f.is_whole
  FROM walk AS w
  JOIN flow AS f
    ON f.module_id = w.module_id
    AND f.instruction_id = w.at_id
    AND f.element = w.at_element
),
ends AS (
  SELECT
    w.module_id, w.instruction_id, w.element, w.is_whole,
    d.opcode, d.is_constant, coalesce(c.fusion_id, w.at_id) AS origin_id
  FROM walk AS w
  JOIN described AS d
    ON d.module_id = w.module_id
    AND d.instruction_id = w.at_id
  LEFT JOIN fused AS c
    ON c.module_id = d.module_id
    AND c.computation_id = d.computation_id
  ANTI JOIN flow AS f
    ON f.module_id = w.module_id
    AND f.instruction_id = w.at_id
    AND f.element = w.at_element
)
SELECT
  e.module_id, e.instruction_id, e.element, e.origin_id,
  CASE
    WHEN e.opcode = 'parameter' THEN 'parameter'
    WHEN e.is_constant THEN 'constant'
    ELSE 'computed'
  END AS kind,
  bool_or(e.is_whole) AS is_whole
FROM ends AS e
ANTI JOIN (SELECT * FROM ends WHERE origin_id = instruction_id) AS o
  ON o.module_id = e.module_id
  AND o.instruction_id = e.instruction_id
  AND o.element = e.element
GROUP BY ALL
