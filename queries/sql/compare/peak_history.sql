-- title: Peak memory over runs
-- question: How did every program's memory change from run to run?
-- definition: Programs are followed through the runs by program_histories,
--   not by name: a renamed program goes on, and programs that share a name,
--   such as the lambdas of JAX, have a history each, distinguished by number.
--   Per program, platform and memory space: the greatest reserved_bytes and
--   live_peak_bytes among its modules in each run, and the change since the
--   previous run with that program. Runs are in the order of run_order.
-- grain: program, platform, memory space, run
-- leading: program, space_name, run, reserved_bytes, delta_reserved_bytes,
--   delta_reserved_ratio, live_peak_bytes
-- param series
-- param program
-- param color
-- column program VARCHAR name neutral: Name of the program in its last run.
-- column number BIGINT id neutral: Number among the programs that have had the
--   same last name, in the order in which they appeared.
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
WITH ordered_runs AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT o.run_id, o.place
  FROM run_order() AS o
  WHERE $series IS NULL
    OR o.series = $series
),
occurrences AS MATERIALIZED (
  SELECT
    h.run_id, h.path, h.part, h.program AS program_name, h.history, o.place
  FROM program_histories(
    run_ids := (SELECT coalesce(list(q.run_id), []) FROM ordered_runs AS q)
  ) AS h
  JOIN ordered_runs AS o USING (run_id)
),
histories AS (
  SELECT
    history, last_name,
    row_number() OVER (PARTITION BY last_name ORDER BY history) AS number
  FROM (
    SELECT x.history, arg_min(x.program_name, x.place) AS last_name
    FROM occurrences AS x
    GROUP BY x.history
  )
),
asked AS (
  SELECT DISTINCT x.history
  FROM occurrences AS x
  WHERE $program IS NULL
    OR x.program_name = $program
),
points AS (
  SELECT
    n.last_name, n.number, m.platform, m.color AS space_color, m.space_name,
    m.run_id, x.place, count(*) AS module_count,
    max(m.reserved_bytes) AS reserved_bytes,
    max(m.live_peak_bytes) AS live_peak_bytes
  FROM histories AS n
  SEMI JOIN asked USING (history)
  JOIN occurrences AS x USING (history)
  JOIN module_memory AS m USING (run_id, path, part)
  WHERE $color IS NULL
    OR m.color = $color
  GROUP BY
    n.last_name, n.number, m.platform, m.color, m.space_name, m.run_id, x.place
),
steps AS (
  SELECT
    *,
    lag(reserved_bytes) OVER history AS reserved_before,
    lag(live_peak_bytes) OVER history AS live_before
  FROM points
  WINDOW history AS (
    PARTITION BY last_name, number, platform, space_color ORDER BY place DESC
  )
)
SELECT
  s.last_name AS program, s.number, s.platform, s.space_color AS color,
  s.space_name,
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
ORDER BY
  s.last_name, s.number, s.platform, s.space_color, s.place DESC
