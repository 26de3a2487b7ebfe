-- step: Bytes that temporary values own at the peak: of values that share a
--   byte, the one that began last owns it.
-- grain: value
-- materialised: no
WITH live_values AS (
  SELECT DISTINCT
    module_id, allocation_id, value_id, offset_bytes AS from_byte,
    offset_bytes + size_bytes AS to_byte, coalesce(start_step, 0) AS born
  FROM described_values
  WHERE is_live
),
cuts AS (
  SELECT module_id, allocation_id, from_byte AS byte FROM live_values
  UNION
  SELECT module_id, allocation_id, to_byte FROM live_values
),
pieces AS (
  SELECT
    module_id, allocation_id, byte AS from_byte,
    lead(byte) OVER (
      PARTITION BY module_id, allocation_id ORDER BY byte
    ) AS to_byte
  FROM cuts
),
owners AS (
  SELECT
    p.module_id, p.allocation_id, p.to_byte - p.from_byte AS piece_bytes,
    arg_max(v.value_id, (v.born, v.value_id)) AS value_id
  FROM pieces AS p
  JOIN live_values AS v
    ON v.module_id = p.module_id
    AND v.allocation_id = p.allocation_id
    AND v.from_byte <= p.from_byte
    AND v.to_byte > p.from_byte
  GROUP BY p.module_id, p.allocation_id, p.from_byte, p.to_byte
)
SELECT
  module_id, allocation_id, value_id, sum(piece_bytes) AS owned_bytes
FROM owners
GROUP BY module_id, allocation_id, value_id
