-- step: Parts of the memory with their laws: allocations that are not
--   temporary, which are held all the time, grow like their largest value;
--   temporary values, of which one in the bytes of another takes its place;
--   values that are guests of an allocation that is not temporary as long as
--   they are no larger (host_dimensions, host_bytes); and what is left of the
--   greatest size, which stays.
-- grain: model, part
WITH laws AS MATERIALIZED (
  SELECT
    p.* EXCLUDE (end_step), coalesce(l.dimensions, []) AS dimensions,
    least(
      p.end_step, lead(p.start_step) OVER (
        PARTITION BY
          p.model, p.allocation_id, p.offset_bytes, p.size_bytes
        ORDER BY p.start_step, p.end_step, p.place
      ) - 1
    ) AS end_step,
    p.size_bytes / coalesce(nullif(list_product(list_transform(
      l.dimensions, lambda d: ceil(d.greatest_size / d.tile) * d.tile
    )), 0), 1) AS unit_bytes
  FROM paired_values AS p
  LEFT JOIN buffer_laws AS l USING (model, place)
),
spans AS (
  SELECT model, max(end_step) AS last_step FROM laws GROUP BY model
),
temporary AS MATERIALIZED (
  SELECT *
  FROM laws
  WHERE kind = 'temp'
    AND start_step <= end_step
),
peaks AS MATERIALIZED (
  SELECT model, is_main, max(bytes) AS bytes
  FROM (
    SELECT
      model, is_main,
      sum(sum(change)) OVER (PARTITION BY model, is_main ORDER BY step)
        AS bytes
    FROM (
      SELECT
        model, is_main, unnest([start_step, end_step + 1]) AS step,
        unnest([size_bytes, -size_bytes]) AS change
      FROM temporary
    )
    GROUP BY model, is_main, step
  )
  GROUP BY model, is_main
),
standing AS (
  SELECT
    model, allocation_id, arg_max(dimensions, (size_bytes, place))
      AS dimensions,
    arg_max(unit_bytes * allocation_bytes / size_bytes, (size_bytes, place))
      AS unit_bytes,
    arg_max(place, (size_bytes, place)) AS owner, any_value(kind) AS kind,
    any_value(allocation_bytes) AS bytes
  FROM laws
  WHERE is_main
    AND kind NOT IN ('temp', 'thread_local')
    AND size_bytes > 0
  GROUP BY model, allocation_id
),
known AS (
  SELECT
    m.model, m.base_size, m.base_bytes - coalesce(s.bytes, 0)
    - CASE WHEN p.bytes > 0 THEN m.base_temp_bytes ELSE 0 END AS rest_bytes
  FROM size_models AS m
  LEFT JOIN (
    SELECT model, sum(bytes) AS bytes FROM standing GROUP BY model
  ) AS s USING (model)
  LEFT JOIN peaks AS p
    ON p.model = m.model
    AND p.is_main
)
SELECT
  s.model, m.base_size, TRUE AS is_main, s.kind, TRUE AS is_kept, s.dimensions,
  s.unit_bytes, -1 AS start_step, n.last_step AS end_step,
  NULL AS host_dimensions, NULL AS host_bytes
FROM standing AS s
JOIN size_models AS m USING (model)
JOIN spans AS n USING (model)
UNION ALL
SELECT
  t.model, t.base_size, t.is_main, t.kind, t.is_kept, t.dimensions,
  CASE WHEN t.is_main THEN t.unit_bytes * t.base_temp_bytes / p.bytes
    ELSE t.unit_bytes END,
  t.start_step, t.end_step, NULL, NULL
FROM temporary AS t
JOIN peaks AS p USING (model, is_main)
UNION ALL
SELECT
  g.model, g.base_size, TRUE, 'temp', TRUE, g.dimensions, g.unit_bytes,
  g.start_step, g.end_step, s.dimensions, s.unit_bytes
FROM laws AS g
JOIN standing AS s USING (model, allocation_id)
WHERE g.is_main
  AND g.kind NOT IN ('temp', 'thread_local')
  AND g.place <> s.owner
  AND g.start_step <= g.end_step
UNION ALL
SELECT
  k.model, k.base_size, TRUE, NULL, TRUE, [], CAST(k.rest_bytes AS DOUBLE), -1,
  n.last_step, NULL, NULL
FROM known AS k
JOIN spans AS n USING (model)
