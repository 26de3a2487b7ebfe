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
-- steps: phases, arguments, marked_programs, nodes, callees, edges, readers,
--   fed_by_backward
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
WITH RECURSIVE flow_in_fusions AS (
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
  FROM flow_in_fusions AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.operand_id = w.instruction_id
  JOIN nodes AS n
    ON n.module_id = e.module_id
    AND n.instruction_id = e.instruction_id
  WHERE NOT w.is_marked
),
within AS (
  SELECT
    w.module_id, w.parameter_number, w.reader_id,
    bool_or(w.is_marked) AS is_marked,
    bool_or(w.is_marked AND w.phase = 'forward') AS is_forward
  FROM flow_in_fusions AS w
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
  LEFT JOIN fed_by_backward AS f
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
