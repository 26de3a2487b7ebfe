-- step: Where arrays come from, with the number of the parameter, if it is one
--   of the program.
-- grain: instruction, element, origin
SELECT
  o.module_id, o.instruction_id, o.element, o.origin_id, o.is_whole, o.kind,
  CASE WHEN o.kind = 'parameter' THEN i.parameter_number END
    AS parameter_number
FROM array_origins() AS o
LEFT JOIN (
  SELECT n.module_id, n.instruction_id, n.parameter_number
  FROM named_instructions AS n
  JOIN entry_computations USING (module_id, computation_id)
) AS i
  ON i.module_id = o.module_id
  AND i.instruction_id = o.origin_id
