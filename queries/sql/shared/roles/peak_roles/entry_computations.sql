-- step: The entry computation of each program.
-- grain: program
SELECT DISTINCT module_id, entry_computation_id AS computation_id
FROM store.snapshots
