-- step: The value that stands for an allocation other than an arena: its
--   parameter, not that of a loop which takes it over later, else the largest.
-- grain: allocation
SELECT d.*
FROM described_values AS d
WHERE d.kind <> 'temp'
QUALIFY row_number() OVER (
  PARTITION BY d.module_id, d.allocation_id
  ORDER BY
    d.kind = 'parameter' AND d.opcode = 'parameter' AND d.is_entry DESC,
    d.size_bytes DESC,
    CASE WHEN d.kind = 'parameter' THEN d.start_step END, d.start_step DESC,
    d.is_entry DESC, d.value_id DESC
) = 1
