-- step: Temporary arrays that the entry computation makes outside of loops by
--   operations that can be computed for some rows at a time: not what sorts,
--   turns or transforms, itself or in a fusion, nor what gathers from as much
--   as it makes.
-- grain: value
WITH other_instructions AS (
  SELECT module_id, instruction_id, computation_id
  FROM scheduled_instructions
  WHERE opcode IN (
    'call', 'cholesky', 'conditional', 'convolution', 'custom-call', 'fft',
    'reduce-window', 'reverse', 'scatter', 'select-and-scatter', 'sort',
    'triangular-solve', 'while'
  )
  UNION ALL
  SELECT g.module_id, g.instruction_id, g.computation_id
  FROM scheduled_instructions AS g
  JOIN operands AS o USING (module_id, instruction_id)
  JOIN scheduled_instructions AS t
    ON t.module_id = o.module_id
    AND t.instruction_id = o.operand_id
  WHERE g.opcode = 'gather'
    AND o.operand_index = 0
    AND t.logical_bytes >= g.logical_bytes
),
whole_instructions AS (
  SELECT module_id, instruction_id FROM other_instructions
  UNION
  SELECT c.module_id, c.instruction_id
  FROM called_computations AS c
  JOIN other_instructions AS o USING (module_id, computation_id)
)
SELECT
  v.module_id, v.value_id, v.instruction_id, v.dimensions, v.size_bytes
FROM arrays AS v
JOIN scheduled_instructions AS s USING (module_id, instruction_id)
JOIN computations AS c
  ON c.module_id = s.module_id
  AND c.computation_id = s.computation_id
ANTI JOIN whole_instructions AS w
  ON w.module_id = v.module_id
  AND w.instruction_id = v.instruction_id
WHERE v.kind = 'temp'
  AND c.kind = 'entry'
