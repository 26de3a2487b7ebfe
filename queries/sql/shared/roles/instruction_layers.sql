-- title: Layer of every instruction
-- question: To which layer of the model does an instruction belong, even if
--   only the arguments name layers?
-- definition: The layer that layer_rules finds in op_name. Of instructions
--   without one: that of an argument which they read (also through
--   copied_parameters and array_origins, so element by element through
--   loops), the greatest if several. Gradients that an instruction outside of
--   both passes reads together with an argument have the layer of that
--   argument. What reads arguments without a layer, as the loss does, has
--   none. Others go by what they read, up to eight instructions back: forward
--   the greatest layer; backward the greatest of what was made forward, or
--   else the least. Arrays that an instruction only passes on count as what
--   made them. Where op_names of operations name layers, an operation with an
--   op_name that reads no argument has none but that. An array of a tuple, a
--   loop, a call or a branch has the layer of what made it, if that is one
--   alone. Instructions of fusions are left out.
-- grain: module content, instruction, element
-- steps: named_layers
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column instruction_id
-- column element INTEGER id neutral: Element of a tuple that instructions of
--   several layers made; else -1, for all of the result.
-- column layer_name VARCHAR name neutral: Name that the layers have in common;
--   NULL if it belongs to none.
-- column layer_number BIGINT id neutral: Number in the path.
WITH RECURSIVE layered_modules AS MATERIALIZED (
  SELECT unnest(list(DISTINCT module_id)) AS module_id
  FROM named_layers
  WHERE layer IS NOT NULL
),
nodes AS MATERIALIZED (
  SELECT
    t.module_id, t.instruction_id, t.op_name, t.layer, h.phase,
    t.opcode = 'parameter' AND e.computation_id IS NOT NULL AS is_argument,
    -- What holds arrays of many instructions reads none of them itself.
    NOT is_argument
      AND t.opcode IN ('call', 'conditional', 'parameter', 'tuple', 'while')
      AS is_passing
  FROM layered_modules
  JOIN named_layers AS t USING (module_id)
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
  SELECT DISTINCT o.module_id, o.instruction_id, o.element, o.origin_id
  FROM layered_modules
  JOIN array_origins() AS o USING (module_id)
  WHERE o.kind <> 'constant'
),
-- What passes an array on is read as what made it.
edges AS MATERIALIZED (
  SELECT s.module_id, s.instruction_id AS reader_id, s.origin_id AS operand_id
  FROM sources AS s
  JOIN nodes AS n USING (module_id, instruction_id)
  WHERE NOT n.is_passing
  UNION
  SELECT
    p.module_id, p.instruction_id, coalesce(s.origin_id, p.operand_id)
  FROM layered_modules
  JOIN operands AS p USING (module_id)
  JOIN nodes AS n
    ON n.module_id = p.module_id
    AND n.instruction_id = p.instruction_id
    AND NOT n.is_passing
  ANTI JOIN sources AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.instruction_id
  LEFT JOIN sources AS s
    ON s.module_id = p.module_id
    AND s.instruction_id = p.operand_id
  WHERE p.operand_id IS NOT NULL
),
-- Their operations bear the layer's name, not only their arguments.
named_modules AS MATERIALIZED (
  SELECT DISTINCT n.module_id
  FROM nodes AS n
  ANTI JOIN (SELECT * FROM nodes WHERE is_argument) AS a
    ON a.module_id = n.module_id
    AND a.op_name = n.op_name
  WHERE n.layer IS NOT NULL
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
  JOIN named_layers AS t
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
  LEFT JOIN named_modules AS m USING (module_id)
  WHERE w.depth > 0
    AND (m.module_id IS NULL OR coalesce(n.op_name, '') = '')
  GROUP BY w.module_id, w.instruction_id, n.phase
),
found AS (
  SELECT
    n.module_id, n.instruction_id, n.is_passing,
    coalesce(a.layer, o.layer) AS layer
  FROM nodes AS n
  LEFT JOIN anchors AS a
    ON a.module_id = n.module_id
    AND a.instruction_id = n.instruction_id
  LEFT JOIN others AS o
    ON o.module_id = n.module_id
    AND o.instruction_id = n.instruction_id
),
-- What made an array of a loop or a branch says to which layer it belongs.
held AS (
  SELECT
    f.module_id, f.instruction_id, coalesce(s.element, -1) AS element,
    list(DISTINCT coalesce(f.layer, o.layer)) AS layers,
    bool_or(coalesce(f.layer, o.layer) IS NULL) AS is_outside
  FROM found AS f
  LEFT JOIN sources AS s
    ON s.module_id = f.module_id
    AND s.instruction_id = f.instruction_id
  LEFT JOIN found AS o
    ON o.module_id = s.module_id
    AND o.instruction_id = s.origin_id
  WHERE f.is_passing
  GROUP BY f.module_id, f.instruction_id, coalesce(s.element, -1)
)
SELECT
  f.module_id, f.instruction_id, -1 AS element, f.layer.name AS layer_name,
  f.layer.number AS layer_number
FROM found AS f
WHERE NOT f.is_passing
UNION ALL
SELECT
  h.module_id, h.instruction_id, h.element,
  CASE WHEN NOT h.is_outside AND len(h.layers) = 1 THEN h.layers[1].name END,
  CASE WHEN NOT h.is_outside AND len(h.layers) = 1 THEN h.layers[1].number END
FROM held AS h
-- What is known of the elements leaves nothing to say of the whole.
QUALIFY h.element >= 0
  OR max(h.element) OVER (PARTITION BY h.module_id, h.instruction_id) = -1
