-- step: Programs that compute in 16 bits: most of their large temporary arrays
--   are.
-- grain: program
SELECT v.module_id
FROM arrays AS v
WHERE v.kind = 'temp'
  AND v.dimensions LIKE '%,%,%'
GROUP BY v.module_id
HAVING sum(v.size_bytes) FILTER (WHERE v.element_type IN ('bf16', 'f16'))
  > sum(v.size_bytes) FILTER (WHERE v.element_type = 'f32')
