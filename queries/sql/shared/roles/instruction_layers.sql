-- title: Layer of every instruction
-- question: To which layer of the model does an instruction belong, even if
--   only the arguments name layers?
-- definition: The layer that layer_rules finds in op_name. Of instructions
--   without one: that of an argument which they read (also through
--   copied_parameters and array_origins), the greatest if several. Gradients
--   that an instruction outside of both passes reads together with an
--   argument have the layer of that argument. What reads arguments without a
--   layer, as the loss does, has none. Others go by what they read, up to
--   eight instructions back: forward the greatest layer; backward the greatest
--   of what was made forward, or else the least. Arrays that an instruction
--   only passes on count as what made them. Instructions of fusions are left
--   out.
-- grain: module content, instruction
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column layer_name VARCHAR name neutral: Name that the layers have in common;
--   NULL if it belongs to none.
-- column layer_number BIGINT id neutral: Number in the path.
WITH RECURSIVE there AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.opcode, i.op_name,
    i.parameter_number
  FROM selected_instructions() AS i
  JOIN computations AS c USING (module_id, computation_id)
  WHERE c.kind IS DISTINCT FROM 'fusion'
),
paths AS (
  SELECT
    op_name, '/' || regexp_replace(op_name, '[\[\]()''"./]+', '/', 'g') AS path
  FROM (SELECT DISTINCT op_name FROM there)
  WHERE regexp_matches(op_name, '[0-9]')
),
matching AS (
  SELECT
    p.op_name, p.path, r.pattern, r.place,
    regexp_extract(p.path, r.pattern, 1) AS name
  FROM paths AS p
  CROSS JOIN layer_rules() AS r
),
layered_names AS MATERIALIZED (
  -- Compared by number.
  SELECT
    m.op_name,
    arg_min(
      {
        'number': CAST(regexp_extract(m.path, m.pattern, 2) AS BIGINT),
        'name': m.name
      },
      m.place
    ) AS layer
  FROM matching AS m
  WHERE m.name <> ''
  GROUP BY m.op_name
),
layered_modules AS MATERIALIZED (
  SELECT unnest(list(DISTINCT t.module_id)) AS module_id
  FROM there AS t
  JOIN layered_names USING (op_name)
),
nodes AS MATERIALIZED (
  SELECT
    t.module_id, t.instruction_id, t.opcode, n.layer, h.phase,
    t.opcode = 'parameter' AND e.computation_id IS NOT NULL AS is_argument
  FROM layered_modules
  JOIN there AS t USING (module_id)
  LEFT JOIN layered_names AS n USING (op_name)
  LEFT JOIN instruction_phases() AS h
    ON h.module_id = t.module_id
    AND h.instruction_id = t.instruction_id
  LEFT JOIN (
    SELECT DISTINCT module_id, entry_computation_id AS computation_id
    FROM store.snapshots
  ) AS e
    ON e.module_id = t.module_id
    AND e.computation_id = t.computation_id
),
sources AS MATERIALIZED (
  SELECT DISTINCT o.module_id, o.instruction_id, o.origin_id
  FROM layered_modules
  JOIN array_origins() AS o USING (module_id)
  WHERE o.kind <> 'constant'
),
-- What passes an array on is read as what made it.
edges AS MATERIALIZED (
  SELECT module_id, instruction_id AS reader_id, origin_id AS operand_id
  FROM sources
  UNION
  SELECT
    p.module_id, p.instruction_id, coalesce(s.origin_id, p.operand_id)
  FROM layered_modules
  JOIN operands AS p USING (module_id)
  ANTI JOIN sources AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.instruction_id
  LEFT JOIN sources AS s
    ON s.module_id = p.module_id
    AND s.instruction_id = p.operand_id
  WHERE p.operand_id IS NOT NULL
),
arguments AS (
  SELECT n.module_id, n.instruction_id, n.layer
  FROM nodes AS n
  JOIN selected_instructions() AS i USING (module_id, instruction_id)
  WHERE n.is_argument
    AND i.element_type NOT IN ('pred', 'token')
),
copied AS MATERIALIZED (
  SELECT c.module_id, c.instruction_id, a.layer
  FROM copied_parameters() AS c
  JOIN there AS t
    ON t.module_id = c.module_id
    AND t.parameter_number = c.parameter_number
  JOIN arguments AS a
    ON a.module_id = t.module_id
    AND a.instruction_id = t.instruction_id
  UNION
  SELECT module_id, instruction_id, layer FROM arguments
),
by_arguments AS MATERIALIZED (
  SELECT e.module_id, e.reader_id AS instruction_id, max(c.layer) AS layer
  FROM edges AS e
  JOIN copied AS c
    ON c.module_id = e.module_id
    AND c.instruction_id = e.operand_id
  GROUP BY e.module_id, e.reader_id
),
updates AS (
  -- Read by what is of neither pass, such as the optimiser.
  SELECT e.module_id, e.operand_id AS instruction_id, max(b.layer) AS layer
  FROM edges AS e
  JOIN by_arguments AS b
    ON b.module_id = e.module_id
    AND b.instruction_id = e.reader_id
  JOIN nodes AS r
    ON r.module_id = e.module_id
    AND r.instruction_id = e.reader_id
  JOIN nodes AS g
    ON g.module_id = e.module_id
    AND g.instruction_id = e.operand_id
  WHERE coalesce(r.phase, 'none') NOT IN ('forward', 'backward', 'between')
    AND g.phase IN ('backward', 'between')
  GROUP BY e.module_id, e.operand_id
),
anchors AS MATERIALIZED (
  SELECT
    n.module_id, n.instruction_id, n.phase,
    CASE
      WHEN n.layer IS NOT NULL THEN n.layer
      WHEN b.instruction_id IS NOT NULL THEN b.layer
      ELSE u.layer
    END AS layer
  FROM nodes AS n
  LEFT JOIN by_arguments AS b
    ON b.module_id = n.module_id
    AND b.instruction_id = n.instruction_id
  LEFT JOIN updates AS u
    ON u.module_id = n.module_id
    AND u.instruction_id = n.instruction_id
  WHERE n.layer IS NOT NULL
    OR n.is_argument
    OR b.instruction_id IS NOT NULL
    OR u.instruction_id IS NOT NULL
),
walk AS (
  SELECT
    module_id, instruction_id, layer, phase = 'forward' AS is_forward,
    0 AS depth
  FROM anchors
  WHERE layer IS NOT NULL
  UNION
  SELECT w.module_id, e.reader_id, w.layer, w.is_forward, w.depth + 1
  FROM walk AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.operand_id = w.instruction_id
  ANTI JOIN anchors AS a
    ON a.module_id = e.module_id
    AND a.instruction_id = e.reader_id
  WHERE w.depth < 8
),
others AS (
  SELECT
    w.module_id, w.instruction_id,
    CASE
      WHEN n.phase NOT IN ('backward', 'between') THEN max(w.layer)
      ELSE coalesce(max(w.layer) FILTER (WHERE w.is_forward), min(w.layer))
    END AS layer
  FROM walk AS w
  JOIN nodes AS n USING (module_id, instruction_id)
  WHERE w.depth > 0
  GROUP BY w.module_id, w.instruction_id, n.phase
)
SELECT
  n.module_id, n.instruction_id, coalesce(a.layer, o.layer).name AS layer_name,
  coalesce(a.layer, o.layer).number AS layer_number
FROM nodes AS n
LEFT JOIN anchors AS a
  ON a.module_id = n.module_id
  AND a.instruction_id = n.instruction_id
LEFT JOIN others AS o
  ON o.module_id = n.module_id
  AND o.instruction_id = n.instruction_id
