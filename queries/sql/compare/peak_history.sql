-- title: Peak memory over runs
-- question: How did every program's memory change from run to run?
-- definition: Per program, platform and memory space: the greatest
--   reserved_bytes and live_peak_bytes among the program's modules in each
--   run, and the change since the previous run with that program. Runs are
--   ordered by started_at, ingested_at, run_id.
-- grain: program, platform, memory space, run
-- leading: program, space_name, run, reserved_bytes, delta_reserved_bytes,
--   delta_reserved_ratio, live_peak_bytes
-- param series
-- param program
-- param color
-- column program
-- column platform
-- column color
-- column space_name
-- column run
-- column series
-- column started_at TIMESTAMP time neutral: When the dump was written (UTC).
-- column compiler_version VARCHAR name neutral: XLA release.
-- column module_count BIGINT count neutral: Modules of the program in the run.
-- column reserved_bytes
-- column delta_reserved_bytes BIGINT bytes lower_is_better: Change of
--   reserved_bytes.
-- column delta_reserved_ratio DOUBLE ratio lower_is_better: That change as a
--   share of the previous value.
-- column live_peak_bytes
-- column delta_live_peak_bytes BIGINT bytes lower_is_better: Change of
--   live_peak_bytes.
-- column delta_live_peak_ratio DOUBLE ratio lower_is_better: That change as a
--   share of the previous value.
WITH points AS (
  SELECT
    m.program AS program_name, m.platform, m.color AS space_color,
    m.space_name,
    m.run_id, o.place, count(*) AS module_count,
    max(m.reserved_bytes) AS reserved_bytes,
    max(m.live_peak_bytes) AS live_peak_bytes
  FROM module_memory AS m
  JOIN run_order() AS o USING (run_id)
  WHERE ($series IS NULL OR m.series = $series)
    AND ($program IS NULL OR m.program = $program)
    AND ($color IS NULL OR m.color = $color)
  GROUP BY ALL
),
steps AS (
  SELECT
    *,
    lag(reserved_bytes) OVER history AS reserved_before,
    lag(live_peak_bytes) OVER history AS live_before
  FROM points
  WINDOW history AS (
    PARTITION BY program_name, platform, space_color ORDER BY place DESC
  )
)
SELECT
  s.program_name AS program, s.platform, s.space_color AS color, s.space_name,
  r.name AS run, r.series, r.started_at, r.compiler_version, s.module_count,
  s.reserved_bytes,
  s.reserved_bytes - s.reserved_before AS delta_reserved_bytes,
  (s.reserved_bytes - s.reserved_before) / nullif(s.reserved_before, 0)
    AS delta_reserved_ratio,
  s.live_peak_bytes,
  s.live_peak_bytes - s.live_before AS delta_live_peak_bytes,
  (s.live_peak_bytes - s.live_before) / nullif(s.live_before, 0)
    AS delta_live_peak_ratio
FROM steps AS s
JOIN runs AS r USING (run_id)
ORDER BY s.program_name, s.platform, s.space_color, s.place DESC
