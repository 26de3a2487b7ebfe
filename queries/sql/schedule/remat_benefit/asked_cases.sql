-- step: The cases: without one clone, and without any.
-- grain: case, memory space
-- materialised: no
SELECT module_id, clone_id, space_color
FROM kept_arrays
WHERE clone_id IS NOT NULL
UNION
SELECT i.module_id, NULL, i.color FROM clone_arrays AS i
