-- step: Bytes of results and donors that share memory. Of a nested result the
--   index does not say which array it is: all may be shared.
-- grain: program, memory space
-- materialised: no
WITH shared AS (
  -- Of a nested result the index does not tell the array: all may be shared.
  SELECT
    s.module_id, s.array_color, sum(s.array_bytes) AS array_bytes
  FROM sized_arrays AS s
  WHERE s.is_result
    AND EXISTS (
      SELECT 1
      FROM aliases AS a
      WHERE a.module_id = s.module_id
        AND a.kind <> 'donor'
        AND (
          a.output_index IN ('{}', '{' || s.place || '}')
          OR s.shape LIKE '%((%'
          OR s.shape LIKE '%, (%'
        )
    )
  GROUP BY s.module_id, s.array_color
  UNION ALL
  SELECT s.module_id, s.array_color, sum(s.array_bytes)
  FROM sized_arrays AS s
  WHERE s.is_argument
    AND EXISTS (
      SELECT 1
      FROM aliases AS a
      WHERE a.module_id = s.module_id
        AND a.kind = 'donor'
        AND a.parameter_number = s.parameter_number
    )
  GROUP BY s.module_id, s.array_color
)
SELECT module_id, array_color, sum(array_bytes) AS shared
FROM shared
GROUP BY module_id, array_color
