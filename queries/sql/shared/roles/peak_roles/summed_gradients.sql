-- step: What loops sum gradients in: in a program with a backward pass, arrays
--   that a loop carries, with the dimensions of a parameter that is replaced.
-- grain: value
WITH backwards AS MATERIALIZED (
  SELECT DISTINCT h.module_id
  FROM instruction_phases() AS h
  WHERE h.phase = 'backward'
)
SELECT DISTINCT v.module_id, v.value_id
FROM placed_at_peak AS v
JOIN named_instructions AS i USING (module_id, instruction_id)
SEMI JOIN backwards AS b ON b.module_id = v.module_id
JOIN described_parameters AS p
  ON p.module_id = v.module_id
  AND p.is_donated
  AND regexp_extract(p.shape, '\[([0-9,]+)\]', 1)
    = regexp_extract(v.shape, '\[([0-9,]+)\]', 1)
LEFT JOIN store.value_uses AS u
  ON u.module_id = v.module_id
  AND u.value_id = v.value_id
LEFT JOIN named_instructions AS r
  ON r.module_id = u.module_id
  AND r.instruction_id = u.instruction_id
  AND r.opcode = 'while'
WHERE v.kind = 'temp'
  AND (i.opcode IN ('while', 'parameter') OR r.instruction_id IS NOT NULL)
