-- What lies beside the arena of each side of a map: the other allocations of its
-- memory space, the $most largest of a side by themselves with their largest
-- value, the others together, one row per kind. A result lives from the first of
-- its values, all else for the whole program.
-- $maps, $modules, $colors, $candidates and $arenas lie side by side.
WITH sides AS (
  SELECT
    unnest(from_json($maps, '["BIGINT"]')) AS map,
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($colors, '["INTEGER"]')) AS color,
    unnest(from_json($candidates, '["BOOLEAN"]')) AS is_candidate,
    unnest(from_json($arenas, '["BIGINT"]')) AS arena
),
beside AS (
  SELECT
    s.map, s.is_candidate, module_id, a.allocation_id, a.kind, a.size_bytes,
    row_number() OVER (
      PARTITION BY s.map, s.is_candidate ORDER BY a.size_bytes DESC, a.allocation_id
    ) <= CAST($most AS INTEGER) AS is_alone
  FROM sides AS s
  JOIN allocations AS a USING (module_id, color)
  WHERE a.allocation_id <> s.arena
    AND a.size_bytes > 0
),
alone AS (
  SELECT DISTINCT module_id, allocation_id
  FROM beside
  WHERE is_alone
),
held AS (
  SELECT
    module_id, allocation_id,
    arg_max(v.value_id, (v.size_bytes, -v.value_id)) AS value_id,
    min(l.start_step) AS from_step
  FROM alone
  JOIN allocation_values AS v USING (module_id, allocation_id)
  LEFT JOIN store.live_ranges AS l USING (module_id, value_id)
  GROUP BY module_id, allocation_id
)
SELECT
  b.map, b.is_candidate, b.kind, 1 AS allocation_count, b.size_bytes,
  h.value_id, concat(i.name, v.shape_index), v.shape,
  CASE WHEN b.kind = 'live_out' THEN coalesce(h.from_step, 0) ELSE 0 END
    AS from_step
FROM beside AS b
LEFT JOIN held AS h USING (module_id, allocation_id)
LEFT JOIN store.values AS v USING (module_id, value_id)
LEFT JOIN store.instructions AS i USING (module_id, instruction_id)
WHERE b.is_alone
UNION ALL
SELECT
  map, is_candidate, kind, count(*), CAST(sum(size_bytes) AS BIGINT),
  NULL, NULL, NULL, 0
FROM beside
WHERE NOT is_alone
GROUP BY map, is_candidate, kind
ORDER BY map, is_candidate, kind, allocation_count, size_bytes DESC, value_id
