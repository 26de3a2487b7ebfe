-- step: Their dimensions and types: arrays of the same ones are forms of one,
--   passed on by loops and conditions.
-- grain: program, dimensions, type
SELECT
  s.module_id, s.dimensions, s.element_type, min(s.loop_name) AS loop_name,
  max(s.size_bytes) AS size_bytes
FROM loop_histories AS s
WHERE s.kind = 'temp'
GROUP BY s.module_id, s.dimensions, s.element_type
