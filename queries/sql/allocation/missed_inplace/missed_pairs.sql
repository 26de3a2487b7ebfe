-- step: Operands and results that could share their memory, and share it with
--   no other; of several of one size the first of both, and so on.
-- grain: operand, result
-- materialised: no
WITH fitting AS (
  SELECT
    m.*,
    CASE
      WHEN m.opcode IN ('dynamic-update-slice', 'scatter')
        THEN u.operand_index = 0
      WHEN m.opcode = 'sort' THEN u.operand_index = m.result_number
      WHEN m.opcode = 'fusion' THEN p.result_number IS NOT NULL
      ELSE a.sizes = b.sizes AND a.places = b.places AND a.tile = b.tile
    END AS is_fitting
  FROM meeting_values AS m
  JOIN store.value_uses AS u
    ON u.module_id = m.module_id
    AND u.value_id = m.older_id
    AND u.instruction_id = m.instruction_id
  LEFT JOIN layouts AS a
    ON a.shape = m.older_shape
  LEFT JOIN layouts AS b
    ON b.shape = m.shape
  LEFT JOIN in_place_results AS p
    ON p.module_id = m.module_id
    AND p.fusion_id = m.instruction_id
    AND p.parameter_number = u.operand_index
    AND p.result_number = m.result_number
),
judged AS (
  -- Of a value that is more than one operand, every one has to fit.
  SELECT * EXCLUDE (is_fitting), bool_and(is_fitting) AS is_fitting
  FROM fitting
  GROUP BY ALL
),
apart AS (
  SELECT
    *,
    dense_rank() OVER (sizes ORDER BY older_id) AS older_place,
    dense_rank() OVER (sizes ORDER BY newer_id) AS newer_place
  FROM (
    SELECT
      *,
      bool_or(is_shared) OVER (PARTITION BY module_id, older_id) AS is_taken,
      bool_or(is_shared) OVER (PARTITION BY module_id, newer_id) AS is_placed
    FROM judged
  )
  WHERE is_fitting
    AND NOT is_taken
    AND NOT is_placed
  WINDOW sizes AS (
    PARTITION BY module_id, instruction_id, space_color, size_bytes
  )
)
SELECT *
FROM apart
WHERE older_place = newer_place
