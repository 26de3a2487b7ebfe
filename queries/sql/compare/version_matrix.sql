-- title: Versions that change memory
-- question: Which component's version explains the differences in a program's
--   memory?
-- definition: The greatest reserved_bytes of a run by program, memory space,
--   platform and device, grouped by one axis at a time: compiler_version,
--   framework_version, branch and series. Programs that share a name, such as
--   lambdas, are looked at each by itself (program_kinds). explained_ratio is
--   the share of the variance of reserved_bytes between the groups of the
--   axis: 1 if the axis alone decides the memory. Axes with a single value,
--   and programs whose memory never changes, are left out.
-- grain: program (where a name is shared, each program of it), memory space,
--   platform, device, axis, value
-- leading: program, platform, axis, value, run_count, min_reserved_bytes,
--   max_reserved_bytes, explained_ratio
-- param program
-- param color
-- column program
-- column color
-- column platform
-- column device VARCHAR name neutral: Chip or GPU; NULL where unknown.
-- column axis VARCHAR name neutral: Component: compiler_version,
--   framework_version, branch or series.
-- column value VARCHAR name neutral: Version or name.
-- column run_count BIGINT count neutral: Runs with it.
-- column min_reserved_bytes BIGINT bytes lower_is_better: Least reserved bytes
--   with it.
-- column max_reserved_bytes BIGINT bytes lower_is_better: Most reserved bytes
--   with it.
-- column explained_ratio DOUBLE ratio neutral: Share of the variance that the
--   axis explains.
-- column number BIGINT id neutral: Number among the programs of that name, in
--   the order in which they appeared.
WITH points AS (
  SELECT
    m.program AS program_name, k.kind, m.color AS space_color, m.platform,
    r.device,
    -- A number for equal ones: platform and device may be unknown.
    dense_rank() OVER (
      ORDER BY m.program, k.kind, m.color, m.platform, r.device
    ) AS subject,
    min(struct_pack(run_id := m.run_id, place := min(m.path))) OVER (
      PARTITION BY m.program, k.kind
    ) AS first_seen,
    r.compiler_version, r.framework_version, r.branch, r.series,
    CAST(max(m.reserved_bytes) AS DOUBLE) AS bytes
  FROM module_memory AS m
  JOIN runs AS r USING (run_id)
  JOIN program_kinds() AS k USING (run_id, path, part)
  WHERE ($program IS NULL OR m.program = $program)
    AND ($color IS NULL OR m.color = $color)
  GROUP BY
    m.program, k.kind, m.color, m.platform, m.run_id, r.device,
    r.compiler_version, r.framework_version, r.branch, r.series
),
numbered AS (
  SELECT
    p.*,
    dense_rank() OVER (
      PARTITION BY p.program_name ORDER BY p.first_seen, p.kind
    ) AS number
  FROM points AS p
),
axes AS (
  SELECT
    p.*,
    unnest([
      'compiler_version', 'framework_version', 'branch', 'series'
    ]) AS axis,
    unnest([
      p.compiler_version, p.framework_version, p.branch, p.series
    ]) AS value
  FROM numbered AS p
),
groups AS (
  SELECT
    program_name, number, space_color, platform, device, subject, axis, value,
    count(*) AS run_count, min(bytes) AS min_bytes, max(bytes) AS max_bytes,
    avg(bytes) AS mean_bytes
  FROM axes
  GROUP BY
    program_name, number, space_color, platform, device, subject, axis, value
),
totals AS (
  SELECT
    subject, avg(bytes) AS all_mean, count(*) * var_pop(bytes) AS all_squares
  FROM points
  GROUP BY subject
  HAVING min(bytes) < max(bytes)
),
explained AS (
  SELECT
    g.subject, g.axis,
    least(1.0, greatest(0.0, sum(
      g.run_count * (g.mean_bytes - t.all_mean) * (g.mean_bytes - t.all_mean)
    ) / max(t.all_squares))) AS explained_ratio
  FROM groups AS g
  JOIN totals AS t USING (subject)
  GROUP BY g.subject, g.axis
  HAVING count(*) > 1
)
SELECT
  g.program_name AS program, g.space_color AS color, g.platform, g.device,
  g.axis, g.value, g.run_count,
  CAST(g.min_bytes AS BIGINT) AS min_reserved_bytes,
  CAST(g.max_bytes AS BIGINT) AS max_reserved_bytes,
  CAST(round(e.explained_ratio, 6) AS DOUBLE) AS explained_ratio,
  g.number
FROM groups AS g
JOIN explained AS e USING (subject, axis)
ORDER BY
  g.program_name, g.number, g.space_color, g.platform, g.device,
  explained_ratio DESC, g.axis, g.value NULLS FIRST
