-- step: Where arrays lie that loops carry with the iterations as a dimension.
-- grain: allocation, offset, dimensions
SELECT DISTINCT l.module_id, l.allocation_id, l.offset_bytes, l.dimensions
FROM loop_arrays AS l
WHERE l.dimensions LIKE '%,%'
