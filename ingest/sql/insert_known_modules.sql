-- Occurrences of units whose bytes the warehouse knows: what follows from their
-- content is copied from an earlier occurrence.
INSERT INTO modules BY NAME
SELECT
  $run_id AS run_id, i.*,
  m.module_id, m.locations_id, m.part, m.name, m.program, m.program_key,
  m.is_scheduled, m.num_partitions, m.replica_count, m.entry_computation_id,
  m.entry_layout, m.computation_count, m.instruction_count,
  m.graph_fingerprint, m.exact_fingerprint, m.printed_total_bytes,
  m.first_line, m.allocation_count, m.value_count, m.live_range_count,
  m.has_assignment, m.has_live_ranges, m.is_detailed, m.fusion_count
FROM incoming AS i
JOIN (
  SELECT DISTINCT ON (unit_digest, part) *
  FROM modules
  SEMI JOIN (SELECT run_id FROM runs WHERE pruned_at IS NULL) USING (run_id)
  WHERE unit_digest IN (SELECT unit_digest FROM incoming)
  ORDER BY unit_digest, part, run_id
) AS m USING (unit_digest)
