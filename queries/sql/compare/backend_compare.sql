-- title: One program on several backends
-- question: How much memory does the same program need on TPU, GPU and CPU, or
--   on two chips?
-- definition: For every program, the latest run with a buffer assignment of
--   each platform, device and compiler version, per memory space; if a run has
--   several modules of the program, the first. Programs that share a name,
--   such as lambdas, are compared each with its own kind (program_kinds).
--   reserved_x and live_peak_x are multiples of the least value for the same
--   program and memory space. is_same_graph: the graph before optimisations
--   equals that of most of these backends (in a tie, that of the latest run).
-- grain: program (where a name is shared, each program of it), memory space,
--   platform, device, compiler version
-- leading: program, space_name, platform, device, reserved_bytes,
--   live_peak_bytes, fragmentation_ratio, run
-- param program
-- param color
-- column program
-- column color
-- column platform
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column compiler_version VARCHAR name neutral: XLA release.
-- column run
-- column space_name
-- column reserved_bytes
-- column reserved_x DOUBLE score lower_is_better: reserved_bytes divided by
--   the least of the backends.
-- column live_peak_bytes
-- column live_peak_x DOUBLE score lower_is_better: live_peak_bytes divided by
--   the least of the backends.
-- column fragmentation_ratio DOUBLE ratio lower_is_better: Share of temporary
--   memory that is fragmentation.
-- column padding_bytes BIGINT bytes lower_is_better: Padding at the peak.
-- column is_same_graph BOOLEAN flag neutral: Whether the program is the same
--   before optimisations.
-- column module_number
WITH held AS (
  SELECT
    m.program AS program_name, m.color AS space_color, m.platform, r.device,
    r.compiler_version, m.run AS run_name, m.run_id, m.module_number, m.rank,
    m.space_name, m.reserved_bytes, m.live_peak_bytes, m.fragmentation_ratio,
    m.padding_bytes, b.graph_fingerprint, k.kind,
    row_number() OVER (
      PARTITION BY
        m.program, k.kind, m.color, m.platform, r.device, r.compiler_version
      ORDER BY o.place, m.rank, m.module_number, m.path, m.part
    ) AS place,
    o.place AS run_place
  FROM module_memory AS m
  JOIN runs AS r USING (run_id)
  JOIN run_order() AS o USING (run_id)
  JOIN program_kinds() AS k USING (run_id, path, part)
  LEFT JOIN compiled_sources() AS b
    ON b.run_id = m.run_id
    AND b.folder = k.folder
    AND b.module_number = m.module_number
    AND b.rank IS NOT DISTINCT FROM m.rank
    AND b.program = m.program
  WHERE ($program IS NULL OR m.program = $program)
    AND ($color IS NULL OR m.color = $color)
),
latest AS (
  SELECT
    *,
    count(*) OVER same_program AS backend_count,
    min(reserved_bytes) OVER same_program AS least_reserved,
    min(live_peak_bytes) OVER same_program AS least_live
  FROM held
  WHERE place = 1
  WINDOW same_program AS (PARTITION BY program_name, kind, space_color)
),
graphs AS (
  SELECT
    program_name, kind, graph_fingerprint,
    row_number() OVER (
      PARTITION BY program_name, kind
      ORDER BY count(*) DESC, min(run_place), graph_fingerprint
    ) AS place
  FROM (
    -- A backend counts once, however many memory spaces it has.
    SELECT
      program_name, kind, platform, device, compiler_version,
      graph_fingerprint, min(run_place) AS run_place
    FROM latest
    WHERE graph_fingerprint IS NOT NULL
    GROUP BY
      program_name, kind, platform, device, compiler_version,
      graph_fingerprint
  ) AS backends
  GROUP BY program_name, kind, graph_fingerprint
)
SELECT
  l.program_name AS program, l.space_color AS color, l.platform, l.device,
  l.compiler_version, l.run_name AS run, l.space_name, l.reserved_bytes,
  l.reserved_bytes / nullif(l.least_reserved, 0) AS reserved_x,
  l.live_peak_bytes,
  l.live_peak_bytes / nullif(l.least_live, 0) AS live_peak_x,
  l.fragmentation_ratio, l.padding_bytes,
  coalesce(l.graph_fingerprint = g.graph_fingerprint, FALSE) AS is_same_graph,
  l.module_number
FROM latest AS l
LEFT JOIN graphs AS g
  ON g.program_name = l.program_name
  AND g.kind = l.kind
  AND g.place = 1
WHERE l.backend_count > 1
ORDER BY
  l.program_name, l.space_color, l.least_reserved, l.kind, l.reserved_bytes,
  l.run_name
