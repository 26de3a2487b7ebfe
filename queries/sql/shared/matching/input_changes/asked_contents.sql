-- step: These contents, with entry computation and number of partitions. One
--   with other source lines is another snapshot.
-- grain: program
SELECT DISTINCT s.module_id, s.entry_computation_id AS computation_id,
  s.num_partitions
FROM (
  -- Unnested, they are taken for a few rows (final_contents).
  SELECT unnest(list_distinct(list(base_id) || list(candidate_id)))
    AS module_id
  FROM asked_pairs
)
JOIN store.snapshots AS s USING (module_id)
