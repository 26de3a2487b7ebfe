-- step: Shares of the inputs, and of what follows from several edits.
-- grain: pair, memory space, origin
SELECT s.*
FROM shares AS s
ANTI JOIN joint_shares AS j USING (pair, space_color)
LEFT JOIN claimed_beside_inputs AS i USING (pair, space_color)
LEFT JOIN claimed_origins AS c USING (pair, space_color)
WHERE NOT coalesce(i.is_together, FALSE)
  AND (
    s.origin = 'inputs'
    OR s.origin = 'several'
    AND c.pair IS NOT NULL
    AND i.pair IS NULL
  )
