-- step: Parameters of a fusion of which each element is only read for the same
--   element of a result.
-- grain: fusion, parameter, result
WITH RECURSIVE reached_in_place AS (
  SELECT
    module_id, fusion_id, parameter_number, instruction_id AS node_id
  FROM fusion_nodes
  WHERE opcode = 'parameter'
    AND caller_id = fusion_id
  UNION
  SELECT w.module_id, w.fusion_id, w.parameter_number, e.reader_id
  FROM reached_in_place AS w
  JOIN fusion_edges AS e
    ON e.module_id = w.module_id
    AND e.fusion_id = w.fusion_id
    AND e.operand_id = w.node_id
  WHERE e.is_same
),
moving AS (
  SELECT DISTINCT w.module_id, w.fusion_id, w.parameter_number
  FROM reached_in_place AS w
  JOIN fusion_edges AS e
    ON e.module_id = w.module_id
    AND e.fusion_id = w.fusion_id
    AND e.operand_id = w.node_id
  WHERE NOT e.is_same
),
results AS (
  SELECT
    r.module_id, r.fusion_id, coalesce(e.operand_index, 0) AS result_number,
    coalesce(e.operand_id, r.instruction_id) AS node_id
  FROM fusion_nodes AS r
  LEFT JOIN fusion_edges AS e
    ON r.opcode = 'tuple'
    AND e.module_id = r.module_id
    AND e.fusion_id = r.fusion_id
    AND e.reader_id = r.instruction_id
  WHERE r.is_root
    AND r.caller_id = r.fusion_id
)
SELECT DISTINCT
  w.module_id, w.fusion_id, w.parameter_number, r.result_number
FROM reached_in_place AS w
JOIN results AS r USING (module_id, fusion_id, node_id)
ANTI JOIN moving AS m USING (module_id, fusion_id, parameter_number)
