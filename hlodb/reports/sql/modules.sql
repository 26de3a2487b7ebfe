-- The modules of the runs $runs in the words of the run $words, see compilations.
SELECT
  c.run_id, c.place, c.module_id, c.locations_id, c.module_number, c.first_number,
  c.rank, c.own_rank, c.program, c.program_key, c.platform, c.num_partitions,
  c.entry_shapes, c.source_shapes, c.graph_fingerprint, c.exact_fingerprint,
  c.source_id, c.source_graph, c.path, c.has_assignment
FROM compilations(
  run_ids := from_json($runs, '["BIGINT"]'), words_of := $words
) AS c
ORDER BY c.run_id, c.place
