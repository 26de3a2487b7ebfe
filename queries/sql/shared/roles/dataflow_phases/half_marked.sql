-- step: Programs in which only the backward pass is marked; unnested, so that
--   they are planned as a few rows.
-- grain: program
SELECT unnest(list(module_id)) AS module_id
FROM (
  SELECT module_id
  FROM phases
  GROUP BY module_id
  HAVING bool_or(phase = 'backward')
    AND NOT bool_or(is_forward_marked)
)
