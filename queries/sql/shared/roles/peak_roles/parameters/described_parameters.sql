-- step: Parameters with what their roles follow from.
-- grain: program, allocation
-- materialised: no
SELECT
  a.module_id, a.allocation_id, any_value(a.parameter_number) AS number,
  any_value(a.color) AS color, any_value(a.shape) AS shape,
  any_value(a.size_bytes) AS size_bytes,
  bool_or(coalesce(a.is_live_out, FALSE) OR u.module_id IS NOT NULL)
    AS is_donated,
  bool_or(a.shape NOT LIKE '%[]%') AS is_array,
  max(lower(i.op_name)) AS op_name, max(h.phase) AS made_in,
  bool_or(coalesce(s.is_state, FALSE)) AS is_state,
  bool_or(coalesce(s.is_read_forward, FALSE)) AS is_read_forward
FROM selected_contents() AS c
JOIN allocations AS a USING (module_id)
JOIN entry_computations AS m USING (module_id)
LEFT JOIN updated_parameters AS u
  ON u.module_id = a.module_id
  AND u.parameter_number = a.parameter_number
LEFT JOIN named_instructions AS i
  ON i.module_id = a.module_id
  AND i.computation_id = m.computation_id
  AND i.opcode = 'parameter'
  AND i.parameter_number = a.parameter_number
LEFT JOIN parameter_readers() AS s
  ON s.module_id = a.module_id
  AND s.parameter_number = a.parameter_number
LEFT JOIN instruction_phases() AS h
  ON h.module_id = i.module_id
  AND h.instruction_id = i.instruction_id
WHERE a.kind = 'parameter'
GROUP BY a.module_id, a.allocation_id
