-- title: Optimiser state in programs that mark both passes
-- question: Which donated parameters does only the optimiser's update read, in
--   programs of JAX?
-- definition: Entry parameters of programs that mark the backward pass and the
--   whole forward pass (path_marks). Copies, bitcasts, tuples, and
--   instructions without op_name and with one operand are followed to the
--   readers; the tuple of results is not a reader. is_state: each reader reads
--   results of the backward pass, directly or through instructions without a
--   mark, or is a fusion that contains some of it; and neither it nor, in a
--   fusion, what follows from the parameter belongs to one of the passes. NULL
--   for scalars and parameters that are not donated. A loop proves nothing; a
--   call or conditional is judged by its operands. Instructions that only move
--   or repeat data (broadcasts, reshapes) count as unmarked, whatever their
--   name.
-- grain: module content, parameter
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column reader_count BIGINT count neutral: Instructions that read it.
-- column is_state BOOLEAN flag neutral: Whether only updates read it.
-- column is_read_forward BOOLEAN flag neutral: Whether the forward pass reads
--   it.
WITH RECURSIVE named AS MATERIALIZED (
  SELECT
    o.module_id, o.instruction_id, o.phase, o.is_forward_marked,
    o.schedule_step IS NOT NULL AS is_scheduled
  FROM instruction_phases() AS o
),
arguments AS MATERIALIZED (
  SELECT
    a.module_id, a.parameter_number,
    bool_or(a.is_live_out AND a.shape NOT LIKE '%[]%') AS is_donated
  FROM (
    SELECT unnest(list(module_id)) AS module_id
    FROM (
      SELECT module_id
      FROM named
      GROUP BY module_id
      HAVING bool_or(phase = 'backward')
        AND bool_or(is_forward_marked)
    )
  ) AS m
  JOIN allocations AS a USING (module_id)
  WHERE a.kind = 'parameter'
  GROUP BY a.module_id, a.parameter_number
),
-- Unnested, and each fixed, as in dataflow_phases.
marked AS MATERIALIZED (
  SELECT unnest(list(DISTINCT module_id)) AS module_id
  FROM arguments
),
nodes AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, f.opcode,
    f.parameter_number, n.is_scheduled, n.phase,
    f.opcode IN (
      'async-done', 'async-start', 'async-update', 'bitcast', 'copy',
      'copy-done', 'copy-start', 'get-tuple-element', 'tuple'
    )
    OR coalesce(f.custom_call_target = 'ConcatBitcast', FALSE) AS is_moving,
    n.phase IN ('forward', 'backward')
    AND f.opcode NOT IN (
      'bitcast', 'broadcast', 'constant', 'copy', 'iota', 'parameter',
      'reshape', 'tuple'
    ) AS is_marked
  FROM marked
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  JOIN named AS n
    ON n.module_id = i.module_id
    AND n.instruction_id = i.instruction_id
),
callees AS MATERIALIZED (
  SELECT c.module_id, c.instruction_id, c.computation_id, n.opcode
  FROM marked
  JOIN called_computations AS c USING (module_id)
  JOIN nodes AS n USING (module_id, instruction_id)
  WHERE n.opcode IN ('call', 'conditional', 'fusion', 'while')
),
edges AS MATERIALIZED (
  SELECT o.module_id, o.instruction_id, o.operand_id, o.operand_index
  FROM marked
  JOIN operands AS o USING (module_id)
  WHERE o.operand_id IS NOT NULL
),
holding AS MATERIALIZED (
  SELECT DISTINCT c.module_id, c.instruction_id
  FROM callees AS c
  JOIN nodes AS n USING (module_id, computation_id)
  WHERE c.opcode = 'fusion'
    AND n.is_marked
    AND n.phase = 'backward'
),
working AS MATERIALIZED (
  SELECT n.module_id, n.instruction_id
  FROM nodes AS n
  WHERE n.is_marked
    AND n.is_scheduled
    AND n.phase = 'backward'
    AND n.opcode <> 'fusion'
  UNION
  FROM holding
),
-- What reads of it without a mark of its own; what a call gives is its root's.
links AS MATERIALIZED (
  SELECT e.module_id, e.instruction_id, e.operand_id
  FROM edges AS e
  JOIN nodes AS n USING (module_id, instruction_id)
  WHERE n.is_scheduled
    AND NOT n.is_marked
  UNION
  SELECT c.module_id, c.instruction_id, b.root_instruction_id
  FROM callees AS c
  JOIN computations AS b USING (module_id, computation_id)
  WHERE c.opcode <> 'fusion'
    AND b.root_instruction_id IS NOT NULL
),
after AS (
  FROM working
  UNION
  SELECT l.module_id, l.instruction_id
  FROM after AS a
  JOIN links AS l
    ON l.module_id = a.module_id
    AND l.operand_id = a.instruction_id
),
results AS MATERIALIZED (
  SELECT c.module_id, c.root_instruction_id AS instruction_id
  FROM store.snapshots AS s
  JOIN marked USING (module_id)
  JOIN computations AS c
    ON c.module_id = s.module_id
    AND c.computation_id = s.entry_computation_id
),
moving AS MATERIALIZED (
  SELECT n.module_id, n.instruction_id
  FROM nodes AS n
  JOIN edges AS e USING (module_id, instruction_id)
  WHERE n.is_scheduled
  GROUP BY n.module_id, n.instruction_id
  HAVING any_value(n.is_moving)
    OR (
      any_value(n.phase) = 'none'
      AND any_value(n.opcode) NOT IN (
        'call', 'conditional', 'fusion', 'while'
      )
      AND count(*) = 1
    )
),
reached AS (
  SELECT DISTINCT d.module_id, d.parameter_number, n.instruction_id
  FROM arguments AS d
  JOIN store.snapshots AS s USING (module_id)
  JOIN nodes AS n
    ON n.module_id = d.module_id
    AND n.computation_id = s.entry_computation_id
    AND n.parameter_number = d.parameter_number
  UNION
  SELECT r.module_id, r.parameter_number, e.instruction_id
  FROM reached AS r
  JOIN edges AS e
    ON e.module_id = r.module_id
    AND e.operand_id = r.instruction_id
  JOIN moving AS v
    ON v.module_id = e.module_id
    AND v.instruction_id = e.instruction_id
  ANTI JOIN results AS t
    ON t.module_id = e.module_id
    AND t.instruction_id = e.instruction_id
),
readers AS MATERIALIZED (
  SELECT DISTINCT
    r.module_id, r.parameter_number, n.instruction_id AS reader_id, n.opcode,
    n.is_marked, n.phase, e.operand_index
  FROM reached AS r
  JOIN edges AS e
    ON e.module_id = r.module_id
    AND e.operand_id = r.instruction_id
  JOIN nodes AS n
    ON n.module_id = e.module_id
    AND n.instruction_id = e.instruction_id
  ANTI JOIN moving AS v
    ON v.module_id = e.module_id
    AND v.instruction_id = e.instruction_id
  ANTI JOIN results AS t
    ON t.module_id = e.module_id
    AND t.instruction_id = e.instruction_id
),
-- What follows from the parameter within a fusion that reads it.
flow AS (
  SELECT
    r.module_id, r.parameter_number, r.reader_id, n.instruction_id,
    n.is_marked, n.phase
  FROM readers AS r
  JOIN callees AS c
    ON c.module_id = r.module_id
    AND c.instruction_id = r.reader_id
  JOIN nodes AS n
    ON n.module_id = c.module_id
    AND n.computation_id = c.computation_id
    AND n.parameter_number = r.operand_index
  WHERE r.opcode = 'fusion'
  UNION
  SELECT
    w.module_id, w.parameter_number, w.reader_id, n.instruction_id,
    n.is_marked, n.phase
  FROM flow AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.operand_id = w.instruction_id
  JOIN nodes AS n
    ON n.module_id = e.module_id
    AND n.instruction_id = e.instruction_id
  WHERE NOT w.is_marked
),
fed AS MATERIALIZED (
  SELECT e.module_id, e.instruction_id
  FROM edges AS e
  JOIN after AS a
    ON a.module_id = e.module_id
    AND a.instruction_id = e.operand_id
  UNION
  SELECT r.module_id, r.reader_id
  FROM readers AS r
  JOIN after AS a
    ON a.module_id = r.module_id
    AND a.instruction_id = r.reader_id
  WHERE r.opcode = 'fusion'
),
within AS (
  SELECT
    w.module_id, w.parameter_number, w.reader_id,
    bool_or(w.is_marked) AS is_marked,
    bool_or(w.is_marked AND w.phase = 'forward') AS is_forward
  FROM flow AS w
  GROUP BY w.module_id, w.parameter_number, w.reader_id
),
judged AS (
  SELECT
    r.module_id, r.parameter_number, r.reader_id,
    CASE
      WHEN r.opcode = 'while' THEN FALSE
      WHEN r.opcode = 'fusion' THEN NOT coalesce(w.is_marked, TRUE)
      ELSE NOT r.is_marked
    END
    AND f.instruction_id IS NOT NULL AS is_update,
    coalesce(w.is_forward, r.is_marked AND r.phase = 'forward') AS is_forward
  FROM readers AS r
  LEFT JOIN within AS w USING (module_id, parameter_number, reader_id)
  LEFT JOIN fed AS f
    ON f.module_id = r.module_id
    AND f.instruction_id = r.reader_id
)
SELECT
  j.module_id, j.parameter_number,
  count(DISTINCT j.reader_id) AS reader_count,
  CASE WHEN bool_or(a.is_donated) THEN bool_and(j.is_update) END AS is_state,
  bool_or(j.is_forward) AS is_read_forward
FROM judged AS j
JOIN arguments AS a USING (module_id, parameter_number)
GROUP BY j.module_id, j.parameter_number
