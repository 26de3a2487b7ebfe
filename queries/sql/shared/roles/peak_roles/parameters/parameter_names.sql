-- step: Their names, with v of a cache beside k as if it were k, and other
--   single letters m and v of what the forward pass reads made no moments.
-- grain: program, allocation
-- materialised: no
SELECT
  p.module_id, p.allocation_id,
  CASE
    WHEN k.op_name IS NOT NULL THEN k.op_name
    WHEN p.is_read_forward
      THEN regexp_replace(
        p.op_name, '(^|[^a-z])[mv]([^a-z]|$)', '\1_\2', 'g'
      )
    ELSE p.op_name
  END AS op_name
FROM described_parameters AS p
LEFT JOIN (SELECT DISTINCT module_id, op_name FROM described_parameters) AS k
  ON k.module_id = p.module_id
  AND k.op_name <> p.op_name
  AND k.op_name = regexp_replace(
    p.op_name, '^(.*[^a-z]|)v([^a-z].*)?$', '\1k\2'
  )
