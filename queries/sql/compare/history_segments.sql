-- title: Change points of a series
-- question: Between which runs of a series did a program's memory change?
-- definition: The points of peak_history, cut into segments of consecutive
--   runs with the same reserved_bytes and live_peak_bytes. An unknown live
--   peak is not a change. The cause lies between commit_before, of the last
--   run before the segment, and first_commit.
-- grain: program, platform, memory space, segment
-- leading: program, space_name, first_run, last_run, run_count,
--   reserved_bytes, delta_reserved_bytes, first_commit
-- param series
-- param program
-- param color
-- column program VARCHAR name neutral: Name of the program in its last run.
-- column number BIGINT id neutral: Number among programs of that name, see
--   peak_history.
-- column platform
-- column color
-- column space_name
-- column first_run VARCHAR name neutral: First run of the segment.
-- column last_run VARCHAR name neutral: Last run of the segment.
-- column run_count BIGINT count neutral: Runs in the segment.
-- column reserved_bytes
-- column delta_reserved_bytes BIGINT bytes lower_is_better: Change from the
--   segment before.
-- column live_peak_bytes
-- column delta_live_peak_bytes BIGINT bytes lower_is_better: Change from the
--   segment before.
-- column commit_before VARCHAR name neutral: Commit of the last run before the
--   segment.
-- column first_commit VARCHAR name neutral: Commit of the first run of the
--   segment.
WITH points AS (
  SELECT
    h.program AS program_name, h.number, h.platform, h.color AS space_color,
    h.space_name, h.run AS run_name, r.commit_sha, o.place, h.reserved_bytes,
    h.live_peak_bytes,
    coalesce(h.delta_reserved_bytes, 1) <> 0
      OR coalesce(h.delta_live_peak_bytes, 1) <> 0 AS is_cut
  FROM peak_history()
    AS h
  JOIN runs AS r ON r.name = h.run
  JOIN run_order() AS o ON o.run_id = r.run_id
),
numbered AS (
  SELECT
    *,
    sum(CASE WHEN is_cut THEN 1 ELSE 0 END) OVER history AS piece,
    lag(commit_sha) OVER history AS commit_before
  FROM points
  WINDOW history AS (
    PARTITION BY program_name, number, platform, space_color
    ORDER BY place DESC
  )
),
pieces AS (
  SELECT
    program_name, number, platform, space_color, space_name, piece,
    count(*) AS run_count,
    arg_max(run_name, place) AS first_run,
    arg_min(run_name, place) AS last_run,
    max(place) AS first_place, max(reserved_bytes) AS reserved_bytes,
    max(live_peak_bytes) AS live_peak_bytes,
    -- Unknown ones are not passed over.
    first(commit_sha ORDER BY place DESC) AS first_commit,
    first(commit_before ORDER BY place DESC) AS commit_before
  FROM numbered
  GROUP BY program_name, number, platform, space_color, space_name, piece
),
-- A piece may be cut off by nothing but a live peak that is not known.
sized AS (
  SELECT
    *,
    reserved_bytes IS DISTINCT FROM lag(reserved_bytes) OVER history
      AS is_resized
  FROM pieces
  WINDOW history AS (
    PARTITION BY program_name, number, platform, space_color ORDER BY piece
  )
),
stretches AS (
  SELECT
    *,
    count(*) FILTER (WHERE is_resized) OVER (
      PARTITION BY program_name, number, platform, space_color ORDER BY piece
    ) AS stretch
  FROM sized
),
changes AS (
  SELECT
    *,
    is_resized OR coalesce(
      live_peak_bytes <> last_value(live_peak_bytes IGNORE NULLS) OVER (
        PARTITION BY program_name, number, platform, space_color, stretch
        ORDER BY piece
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ), FALSE
    ) AS is_change
  FROM stretches
),
joined AS (
  SELECT
    *,
    count(*) FILTER (WHERE is_change) OVER (
      PARTITION BY program_name, number, platform, space_color ORDER BY piece
    ) AS segment
  FROM changes
),
segments AS (
  SELECT
    program_name, number, platform, space_color, space_name,
    CAST(sum(run_count) AS BIGINT) AS run_count,
    arg_min(first_run, piece) AS first_run,
    arg_max(last_run, piece) AS last_run,
    max(first_place) AS first_place, max(reserved_bytes) AS reserved_bytes,
    max(live_peak_bytes) AS live_peak_bytes,
    first(first_commit ORDER BY piece) AS first_commit,
    first(commit_before ORDER BY piece) AS commit_before
  FROM joined
  GROUP BY program_name, number, platform, space_color, space_name, segment
)
SELECT
  s.program_name AS program, s.number, s.platform, s.space_color AS color,
  s.space_name, s.first_run, s.last_run, s.run_count, s.reserved_bytes,
  s.reserved_bytes - lag(s.reserved_bytes) OVER history
    AS delta_reserved_bytes,
  s.live_peak_bytes,
  s.live_peak_bytes - lag(s.live_peak_bytes) OVER history
    AS delta_live_peak_bytes,
  s.commit_before, s.first_commit
FROM segments AS s
WINDOW history AS (
  PARTITION BY s.program_name, s.number, s.platform,
    s.space_color ORDER BY s.first_place DESC
)
ORDER BY
  s.program_name, s.number, s.platform, s.space_color, s.first_place DESC
