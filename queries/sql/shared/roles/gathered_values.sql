-- title: Weights gathered for use
-- question: Which values hold a parameter that an all-gather assembled?
-- definition: The operand of an all-gather (or its start) counts if it comes
--   from a parameter of the entry computation, or of a loop or branch, through
--   operations that only pass data on: bitcast, copy, convert, reshape,
--   transpose, slice, dynamic-slice, get-tuple-element, optimization barriers,
--   calls, and starts and dones of these and of all-gathers. Parameters of
--   other computations are what their caller passes. The result of that
--   all-gather, and what the same operations make of it, is gathered; for
--   async_collectives, the second result of the fusion that starts it and the
--   result of the done. Other fusions are not followed.
-- grain: module content, value
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column value_id
-- column gather_instruction VARCHAR name neutral: The all-gather.
-- column weight VARCHAR name neutral: op_name of the parameter, or else its
--   instruction.
WITH RECURSIVE gathering AS MATERIALIZED (
  -- Most modules have none: nothing more is read of these. Unnested, they are
  -- taken for a few rows, and hash tables are made of these rather than of
  -- what all modules have.
  SELECT unnest(list(DISTINCT m.module_id)) AS module_id
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.opcode IN ('all-gather', 'all-gather-start')
    AND (NOT $every_run OR list_contains($module_ids, i.module_id))
),
nodes AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name, i.computation_id, f.opcode,
    f.op_name, f.parameter_number,
    TRY_CAST(regexp_extract(f.attributes, '^index=([0-9]+)', 1) AS INTEGER)
      AS tuple_index,
    f.opcode IN ('all-gather', 'all-gather-start') AS is_gather,
    f.opcode IN (
      'bitcast', 'copy', 'convert', 'reshape', 'transpose', 'slice',
      'dynamic-slice', 'get-tuple-element', 'opt-barrier', 'copy-start',
      'copy-done', 'async-start', 'async-done', 'async-update',
      'all-gather-done', 'call', 'parameter'
    ) AS is_passing
  FROM gathering AS m
  JOIN store.instructions AS i USING (module_id)
  LEFT JOIN store.instruction_forms AS f USING (form_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, i.module_id)
),
handed AS MATERIALIZED (
  -- Fixed, as what follows: else a few instructions meet those of all modules.
  SELECT p.module_id, p.instruction_id, p.operand_index, p.operand_id
  FROM gathering AS m
  JOIN operands AS p USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, p.module_id)
),
read AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.operand_index, p.operand_id
  FROM nodes AS n
  JOIN handed AS p USING (module_id, instruction_id)
  WHERE p.operand_id IS NOT NULL
    AND (
      n.is_gather
      OR n.is_passing
      OR n.opcode = 'fusion'
    )
),
calls AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id, c.computation_id, d.root_instruction_id
  FROM gathering AS m
  JOIN called_computations AS c USING (module_id)
  JOIN computations AS d
    ON d.module_id = c.module_id
    AND d.computation_id = c.computation_id
  WHERE NOT $every_run
    OR list_contains($module_ids, c.module_id)
),
called AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id, n.opcode, c.computation_id,
    c.root_instruction_id
  FROM nodes AS n
  JOIN calls AS c USING (module_id, instruction_id)
  WHERE n.opcode IN ('async-start', 'call', 'fusion')
),
parameters AS MATERIALIZED (
  -- Fixed, lest they meet operands by their number alone.
  SELECT
    c.module_id, c.instruction_id AS caller_id,
    n.instruction_id AS parameter_id, n.parameter_number
  FROM called AS c
  JOIN nodes AS n
    ON n.module_id = c.module_id
    AND n.computation_id = c.computation_id
  WHERE n.opcode = 'parameter'
),
edges AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id AS reader_id, p.operand_id
  FROM read AS p
  JOIN nodes AS n USING (module_id, instruction_id)
  WHERE p.operand_index = 0
    AND n.is_passing
    AND n.opcode NOT IN ('async-start', 'call')
  UNION
  -- What is called gives its root, and is given what its caller reads.
  SELECT c.module_id, c.instruction_id, c.root_instruction_id
  FROM called AS c
  WHERE c.opcode <> 'fusion'
  UNION
  SELECT c.module_id, c.parameter_id, p.operand_id
  FROM parameters AS c
  JOIN read AS p
    ON p.module_id = c.module_id
    AND p.instruction_id = c.caller_id
    AND p.operand_index = c.parameter_number
),
gathers AS MATERIALIZED (
  -- element: which of several results an operand becomes.
  SELECT
    n.module_id, n.instruction_id AS gather_id, p.operand_id,
    CASE
      WHEN count(*) OVER (PARTITION BY n.module_id, n.instruction_id) > 1
        THEN p.operand_index
    END AS element
  FROM nodes AS n
  JOIN read AS p USING (module_id, instruction_id)
  WHERE n.is_gather
),
origins AS (
  SELECT g.module_id, g.gather_id, g.element, g.operand_id AS origin_id,
    1 AS depth
  FROM gathers AS g
  UNION
  SELECT o.module_id, o.gather_id, o.element, e.operand_id, o.depth + 1
  FROM origins AS o
  JOIN edges AS e
    ON e.module_id = o.module_id
    AND e.reader_id = o.origin_id
  WHERE o.depth < 20
),
weights AS MATERIALIZED (
  SELECT
    o.module_id, o.gather_id, o.element,
    min(
      CASE WHEN n.op_name <> '' AND s.name IS NULL THEN n.op_name
        ELSE n.name END
    ) AS weight
  FROM origins AS o
  JOIN nodes AS n
    ON n.module_id = o.module_id
    AND n.instruction_id = o.origin_id
  LEFT JOIN shared_names() AS s
    ON s.kind = 'argument'
    AND s.name = n.op_name
  ANTI JOIN edges AS e
    ON e.module_id = o.module_id
    AND e.reader_id = o.origin_id
  WHERE n.opcode = 'parameter'
  GROUP BY o.module_id, o.gather_id, o.element
),
chains AS MATERIALIZED (
  SELECT *
  FROM async_collectives()
),
followed AS (
  SELECT
    w.module_id, w.gather_id, w.weight, w.gather_id AS instruction_id,
    w.element, 0 AS depth
  FROM weights AS w
  UNION
  SELECT
    w.module_id, w.gather_id, w.weight, c.fusion_id,
    CASE WHEN c.part = 'start' THEN 1 END, 0
  FROM weights AS w
  JOIN chains AS s
    ON s.module_id = w.module_id
    AND s.instruction_id = w.gather_id
  JOIN chains AS c
    ON c.module_id = s.module_id
    AND c.chain_id = s.chain_id
    AND c.fusion_computation_id = s.fusion_computation_id
  WHERE s.part = 'start'
    AND c.part <> 'during'
  UNION
  SELECT
    f.module_id, f.gather_id, f.weight, e.reader_id,
    CASE WHEN n.opcode <> 'get-tuple-element' THEN f.element END, f.depth + 1
  FROM followed AS f
  JOIN edges AS e
    ON e.module_id = f.module_id
    AND e.operand_id = f.instruction_id
  JOIN nodes AS n
    ON n.module_id = e.module_id
    AND n.instruction_id = e.reader_id
  WHERE f.depth < 20
    AND (
      n.opcode <> 'get-tuple-element'
      OR f.element IS NULL
      OR f.element = n.tuple_index
    )
),
reached AS MATERIALIZED (
  SELECT
    f.module_id, f.instruction_id, f.element,
    min(n.name) AS gather_instruction, min(f.weight) AS weight
  FROM followed AS f
  JOIN nodes AS n
    ON n.module_id = f.module_id
    AND n.instruction_id = f.gather_id
  GROUP BY f.module_id, f.instruction_id, f.element
)
SELECT v.module_id, v.value_id, r.gather_instruction, r.weight
FROM reached AS r
JOIN store."values" AS v USING (module_id, instruction_id)
WHERE r.element IS NULL
  OR v.shape_index IN ('{' || r.element || '}', '{1,' || r.element || '}')
