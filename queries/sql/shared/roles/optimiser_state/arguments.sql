-- step: Parameters of programs in which forward and backward pass are marked.
-- grain: program, parameter
SELECT
  a.module_id, a.parameter_number,
  bool_or(a.is_live_out AND a.shape NOT LIKE '%[]%') AS is_donated
FROM (
  SELECT unnest(list(module_id)) AS module_id
  FROM (
    SELECT module_id
    FROM phases
    GROUP BY module_id
    HAVING bool_or(phase = 'backward')
      AND bool_or(is_forward_marked)
  )
) AS m
JOIN allocations AS a USING (module_id)
WHERE a.kind = 'parameter'
GROUP BY a.module_id, a.parameter_number
