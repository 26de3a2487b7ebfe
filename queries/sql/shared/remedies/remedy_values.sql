-- title: Values, as rules for remedies see them
-- question: What is each value in memory, and which argument is it like?
-- definition: Values of value_places that are not thread-local, with the
--   instruction that makes them.
-- grain: module content, value
-- param run
-- param program
-- column module_id
-- column color
-- column allocation_id
-- column kind
-- column value_id
-- column instruction_id
-- column instruction
-- column opcode
-- column name VARCHAR name neutral: op_name of the instruction in lower case;
--   for values in the allocation of an argument that of the argument.
-- column shape
-- column element_type VARCHAR name neutral: Element type; empty if it is no
--   array.
-- column dimensions VARCHAR text neutral: Dimensions as printed.
-- column allocation_bytes BIGINT bytes neutral: Size of the allocation.
-- column offset_bytes
-- column size_bytes
-- column logical_bytes
-- column start_step
-- column end_step
WITH chosen AS MATERIALIZED (
  SELECT module_id FROM selected_contents()
),
-- Each is fixed, and of the chosen modules alone: else it meets all runs.
named AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name, f.opcode,
    lower(f.op_name) AS op_name
  FROM chosen
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
arguments AS MATERIALIZED (
  SELECT a.module_id, a.allocation_id, max(lower(n.op_name)) AS op_name
  FROM chosen
  JOIN allocations AS a USING (module_id)
  JOIN entry_parameters() AS n
    ON n.module_id = a.module_id
    AND n.parameter_number = a.parameter_number
  GROUP BY a.module_id, a.allocation_id
)
SELECT
  v.module_id, v.color, v.allocation_id, v.kind, v.value_id,
  v.instruction_id, i.name AS instruction, i.opcode,
  coalesce(a.op_name, i.op_name, '') AS name, v.shape,
  regexp_extract(v.shape, '^([a-z][a-z0-9]*)\[', 1) AS element_type,
  regexp_extract(v.shape, '^[a-z][a-z0-9]*\[([0-9,]*)\]', 1) AS dimensions,
  v.allocation_bytes, v.offset_bytes, v.size_bytes, v.logical_bytes,
  v.start_step, v.end_step
FROM value_places() AS v
LEFT JOIN named AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
LEFT JOIN arguments AS a
  ON a.module_id = v.module_id
  AND a.allocation_id = v.allocation_id
WHERE v.kind <> 'thread_local'
