-- step: What the kind of a change says, whatever the path: an alias is of a
--   donation, a result of an output. The inputs are nobody's edit: place 0.
-- grain: pair, memory space, row of buffer_changes, edit
SELECT c.pair, c.space_color, c.number, e.place
FROM changed_buffers AS c
JOIN edits AS e USING (pair)
WHERE CASE e.change
  WHEN 'donation' THEN c.part = 'alias'
  WHEN 'constant' THEN c.opcode = 'constant' OR c.kind = 'constant'
  WHEN 'output'
    THEN c.part = 'allocation_kind'
    OR c.kind = 'live_out' AND c.part IN ('new', 'gone')
END
UNION ALL
SELECT c.pair, c.space_color, c.number, 0
FROM changed_buffers AS c
JOIN split_pairs AS p USING (pair)
WHERE p.has_other_inputs
  AND (
    c.part IN ('resized', 'retyped', 'repadded')
    OR c.parameter IS NOT NULL AND c.part <> 'alias'
  )
