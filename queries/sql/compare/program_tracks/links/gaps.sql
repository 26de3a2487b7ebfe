-- step: Runs between which a program may have been missing: an ended module of
--   one has a name, fingerprint or shapes of a begun one of the other.
-- grain: pair of runs
SELECT DISTINCT e.run_place AS base_place, b.run_place AS candidate_order,
  e.run_id AS base_id, b.run_id AS candidate_id
FROM (
  SELECT
    x.run_id, x.run_place,
    unnest([
      hash('name', x.program), hash('exact', x.exact_fingerprint),
      hash('graph', x.graph_fingerprint), hash('source', x.source_graph),
      hash('shapes', x.entry_shapes), hash('before', x.source_shapes)
    ]) AS key,
    unnest([
      TRUE, x.exact_fingerprint IS NOT NULL, x.graph_fingerprint IS NOT NULL,
      x.source_graph IS NOT NULL, x.entry_shapes IS NOT NULL,
      x.source_shapes IS NOT NULL
    ]) AS is_known
  FROM ended AS x
) AS e
JOIN (
  SELECT
    x.run_id, x.run_place,
    unnest([
      hash('name', x.program), hash('exact', x.exact_fingerprint),
      hash('graph', x.graph_fingerprint), hash('source', x.source_graph),
      hash('shapes', x.entry_shapes), hash('before', x.source_shapes)
    ]) AS key
  FROM begun AS x
) AS b
  ON b.key = e.key
  AND b.run_place > e.run_place + 1
WHERE e.is_known
