-- title: Which version flips the number
-- question: Which component's version explains how a program's memory differs
--   over runs?
-- definition: Points of peak_history by program and colour, grouped by each of
--   the axes compiler_version, framework_version, platform, device, branch and
--   series. explained_ratio is the share of the variance of reserved_bytes
--   that lies between the groups of the axis: 1 where it alone decides the
--   number. Axes with one value and programs whose number never changes are
--   left out.
-- grain: program, colour, axis, value
-- needs: module_memory, runs
-- param program
-- param color
-- column program
-- column color
-- column axis VARCHAR name neutral: Which component.
-- column value VARCHAR name neutral: Its version.
-- column run_count BIGINT count neutral: Runs with that version.
-- column min_reserved_bytes BIGINT bytes lower_is_better: Least reserved bytes
--   there.
-- column max_reserved_bytes BIGINT bytes lower_is_better: Most reserved bytes
--   there.
-- column explained_ratio DOUBLE ratio neutral: What the axis explains.
WITH points AS (
  SELECT
    m.program AS program_name, m.color AS space_color, m.run_id,
    CAST(max(m.reserved_bytes) AS DOUBLE) AS bytes
  FROM module_memory AS m
  WHERE ($program IS NULL OR m.program = $program)
    AND ($color IS NULL OR m.color = $color)
  GROUP BY m.program, m.color, m.run_id
),
axes AS (
  SELECT
    p.program_name, p.space_color, p.bytes,
    unnest([
      'compiler_version', 'framework_version', 'platform', 'device', 'branch',
      'series'
    ]) AS axis,
    unnest([
      r.compiler_version, r.framework_version, r.platform, r.device, r.branch,
      r.series
    ]) AS value
  FROM points AS p
  JOIN runs AS r USING (run_id)
),
groups AS (
  SELECT
    program_name, space_color, axis, value, count(*) AS run_count,
    min(bytes) AS min_bytes, max(bytes) AS max_bytes, avg(bytes) AS mean_bytes
  FROM axes
  GROUP BY program_name, space_color, axis, value
),
totals AS (
  SELECT
    program_name, space_color, avg(bytes) AS all_mean,
    sum(bytes * bytes) - count(*) * avg(bytes) * avg(bytes) AS all_squares
  FROM points
  GROUP BY program_name, space_color
  HAVING min(bytes) < max(bytes)
),
explained AS (
  SELECT
    g.program_name, g.space_color, g.axis,
    least(1.0, greatest(0.0, sum(
      g.run_count * (g.mean_bytes - t.all_mean) * (g.mean_bytes - t.all_mean)
    ) / max(t.all_squares))) AS explained_ratio
  FROM groups AS g
  JOIN totals AS t USING (program_name, space_color)
  GROUP BY g.program_name, g.space_color, g.axis
  HAVING count(*) > 1
)
SELECT
  g.program_name AS program, g.space_color AS color, g.axis, g.value,
  g.run_count,
  CAST(g.min_bytes AS BIGINT) AS min_reserved_bytes,
  CAST(g.max_bytes AS BIGINT) AS max_reserved_bytes,
  CAST(round(e.explained_ratio, 6) AS DOUBLE) AS explained_ratio
FROM groups AS g
JOIN explained AS e USING (program_name, space_color, axis)
ORDER BY
  g.program_name, g.space_color, explained_ratio DESC, g.axis,
  g.value NULLS FIRST
