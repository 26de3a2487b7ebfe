-- What an edit does to memory, exactly as a dump of such a program would have it. Of
-- edited modules with temporaries two in five grow at the peak: the values that end where
-- their arena ends take more room there. As many get an arena with an unused tail.
CREATE TABLE plan.arenas AS
SELECT module_id, allocation_id, color, size_bytes
FROM seed.allocations
WHERE kind = 'temp' AND size_bytes > 0
QUALIFY 1 = row_number() OVER (
  PARTITION BY module_id ORDER BY size_bytes DESC, allocation_id
);

CREATE TABLE plan.last_values AS
SELECT
  a.*, v.value_id, v.offset_bytes, v.size_bytes AS value_bytes,
  l.start_step, l.end_step,
  bool_or(p.peak_step BETWEEN l.start_step AND l.end_step)
    OVER (PARTITION BY a.module_id) AS is_at_peak
FROM plan.arenas AS a
JOIN seed.allocation_values AS v USING (module_id, allocation_id)
JOIN seed.memory_profile AS p USING (module_id, color)
LEFT JOIN seed.store.live_ranges AS l USING (module_id, value_id)
WHERE v.offset_bytes + v.size_bytes = a.size_bytes;

CREATE TABLE plan.grown AS
SELECT
  c.content, c.module_id, c.seed_module_id, a.allocation_id, a.color,
  64 + 64 * CAST(a.size_bytes * draw('size ' || c.module_id) / 1280 AS BIGINT)
    AS growth_bytes,
  draw('kind ' || c.module_id) < 0.4 AND coalesce(t.is_at_peak, FALSE)
    AS is_at_peak
FROM plan.contents AS c
JOIN plan.arenas AS a ON a.module_id = c.seed_module_id
LEFT JOIN (
  SELECT DISTINCT module_id, is_at_peak FROM plan.last_values
) AS t ON t.module_id = c.seed_module_id
WHERE c.edit > 0
  AND draw('kind ' || c.module_id) < 0.8;

-- Values that grow, and where the report of memory usage speaks of them.
CREATE TABLE plan.grown_values AS
SELECT g.module_id, g.growth_bytes, v.* EXCLUDE (module_id)
FROM plan.grown AS g
JOIN plan.last_values AS v ON v.module_id = g.seed_module_id
WHERE g.is_at_peak;

UPDATE allocations AS t SET size_bytes = t.size_bytes + g.growth_bytes
FROM plan.grown AS g
WHERE t.module_id = g.module_id AND t.allocation_id = g.allocation_id;

UPDATE allocation_values AS t SET size_bytes = t.size_bytes + g.growth_bytes
FROM plan.grown_values AS g
WHERE t.module_id = g.module_id
  AND t.allocation_id = g.allocation_id
  AND t.value_id = g.value_id;

-- Timelines: more is live while one of these values is.
INSERT INTO memory_timeline BY NAME
WITH steps AS (
  SELECT g.content, g.module_id, g.seed_module_id, g.color, g.growth_bytes, cut.step
  FROM plan.grown AS g
  JOIN (
    SELECT module_id, color, from_step AS step FROM seed.memory_timeline
    UNION
    SELECT module_id, color, start_step FROM plan.last_values
    UNION
    SELECT module_id, color, end_step + 1 FROM plan.last_values
  ) AS cut ON cut.module_id = g.seed_module_id AND cut.color = g.color
  WHERE g.is_at_peak
),
stretches AS (
  SELECT
    s.*, t.live_bytes, t.temp_live_bytes,
    least(
      t.to_step,
      coalesce(lead(s.step) OVER (PARTITION BY s.module_id ORDER BY s.step) - 1,
        t.to_step)
    ) AS to_step,
    CASE WHEN EXISTS (
      FROM plan.last_values AS v
      WHERE v.module_id = s.seed_module_id
        AND s.step BETWEEN v.start_step AND v.end_step
    ) THEN s.growth_bytes ELSE 0 END AS more_bytes
  FROM steps AS s
  JOIN seed.memory_timeline AS t
    ON t.module_id = s.seed_module_id
    AND t.color = s.color
    AND s.step BETWEEN t.from_step AND t.to_step
),
numbered AS (
  SELECT
    *,
    -- Equal neighbours are one stretch.
    count(*) FILTER (is_new) OVER (PARTITION BY module_id ORDER BY step) AS stretch
  FROM (
    SELECT
      *,
      (live_bytes + more_bytes, temp_live_bytes + more_bytes) IS DISTINCT FROM
        lag((live_bytes + more_bytes, temp_live_bytes + more_bytes))
        OVER (PARTITION BY module_id ORDER BY step) AS is_new
    FROM stretches
  )
),
changed AS (
  SELECT
    content, module_id, color, min(step) AS from_step, max(to_step) AS to_step,
    any_value(live_bytes + more_bytes) AS live_bytes,
    any_value(temp_live_bytes + more_bytes) AS temp_live_bytes
  FROM numbered
  GROUP BY content, module_id, color, stretch
),
unchanged AS (
  SELECT
    c.content, c.module_id, t.* EXCLUDE (module_id)
  FROM plan.contents AS c
  JOIN seed.memory_timeline AS t ON t.module_id = c.seed_module_id
  ANTI JOIN (FROM plan.grown WHERE is_at_peak) AS g
    ON g.module_id = c.module_id AND g.color = t.color
)
SELECT * EXCLUDE (content)
FROM (FROM changed UNION ALL BY NAME FROM unchanged)
ORDER BY content, color, from_step;

UPDATE memory_profile AS t SET
  reserved_bytes = t.reserved_bytes + g.growth_bytes,
  temp_bytes = t.temp_bytes + g.growth_bytes,
  temp_live_peak_bytes = l.temp_live_peak_bytes,
  live_peak_bytes = l.live_peak_bytes,
  fragmentation_bytes = t.temp_bytes + g.growth_bytes - l.temp_live_peak_bytes,
  fragmentation_ratio = (t.temp_bytes + g.growth_bytes - l.temp_live_peak_bytes)
    / (t.temp_bytes + g.growth_bytes),
  padding_bytes = t.padding_bytes
    + CASE WHEN g.is_at_peak THEN g.growth_bytes ELSE 0 END
FROM plan.grown AS g
LEFT JOIN (
  SELECT
    module_id, color, max(live_bytes) AS live_peak_bytes,
    max(temp_live_bytes) AS temp_live_peak_bytes
  FROM memory_timeline
  GROUP BY ALL
) AS l USING (module_id, color)
WHERE t.module_id = g.module_id AND t.color = g.color;

-- What XLA's own report of memory usage says of it.
CREATE OR REPLACE TEMP MACRO size_text(bytes) AS CASE
  WHEN bytes < 1024 THEN bytes || 'B'
  WHEN bytes < 1048576 THEN format('{:.1f}KiB', bytes / 1024)
  WHEN bytes < 1073741824 THEN format('{:.2f}MiB', bytes / 1048576)
  ELSE format('{:.2f}GiB', bytes / 1073741824)
END;

UPDATE memory_reports AS t SET total_bytes = t.total_bytes + g.growth_bytes
FROM plan.grown AS g
WHERE t.module_id = g.module_id AND coalesce(t.color, g.color) = g.color;

UPDATE memory_report_allocations AS t SET
  size_bytes = t.size_bytes + g.growth_bytes,
  size_text = CASE WHEN t.size_text IS NOT NULL
    THEN size_text(t.size_bytes + g.growth_bytes) END
FROM plan.grown AS g
WHERE t.module_id = g.module_id AND t.allocation_id = g.allocation_id;

UPDATE memory_report_values AS t SET
  size_bytes = t.size_bytes + g.growth_bytes,
  size_text = size_text(t.size_bytes + g.growth_bytes)
FROM (
  SELECT
    module_id, allocation_id, color, offset_bytes, any_value(growth_bytes)
      AS growth_bytes, any_value(value_bytes) AS value_bytes
  FROM plan.grown_values
  GROUP BY ALL
) AS g
WHERE t.module_id = g.module_id
  AND t.offset_bytes = g.offset_bytes
  AND coalesce(t.allocation_id, g.allocation_id) = g.allocation_id
  AND coalesce(t.color, g.color) = g.color
  AND size_text(t.size_bytes) = size_text(g.value_bytes);
