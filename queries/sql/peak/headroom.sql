-- title: Headroom below the memory limit
-- question: How far is every program from the memory limit of its device, and
--   which would run out of memory?
-- definition: Headroom is the limit times (1 - slop), minus reserved_bytes,
--   for color 0 unless color is set. status: oom if it is negative, warn if it
--   is less than warn_ratio of the limit, else ok; unknown without a limit.
--   The limit of color 0 comes from limit_bytes; or from the dump, if it
--   records the device's memory, as GPU dumps do (the other memory spaces of a
--   GPU share that memory); or from the published memory of the chip, part of
--   which the runtime keeps for itself. Programs compiled for the host
--   (platform cpu) have no limit.
-- grain: module occurrence, memory space
-- leading: program, space_name, status, headroom_bytes, headroom_ratio,
--   reserved_bytes, usable_bytes, limit_from
-- split: programs
-- param run
-- param program
-- param color
-- param limit_bytes BIGINT = NULL from 0 to 1000000000000000000: Memory of the
--   memory space, color 0 unless color is set; NULL for the limit in the dump
--   or the published memory of the chip.
-- param slop DOUBLE = 0.0 from 0 to 1: Share of the limit to keep free, like
--   xla_gpu_memory_limit_slop_factor.
-- param warn_ratio DOUBLE = 0.05 from 0 to 1: Warn with less than this share
--   of the limit left.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column status VARCHAR name neutral: ok, warn, oom or unknown.
-- column limit_from VARCHAR name neutral: Source of the limit: parameter,
--   dump, or chip (published figure); NULL without a limit.
-- column usable_bytes BIGINT bytes neutral: Limit times 1 - slop.
-- column reserved_bytes
-- column headroom_bytes BIGINT bytes higher_is_better: Bytes left below the
--   limit.
-- column headroom_ratio DOUBLE ratio higher_is_better: Share of the limit that
--   is left.
-- column path
WITH limited AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.path, m.color AS space_color, m.space_name, m.reserved_bytes,
    CASE WHEN m.color = coalesce($color, 0) THEN $limit_bytes END
      AS asked_bytes,
    CASE WHEN m.color = 0 AND m.platform IS DISTINCT FROM 'cpu'
      THEN r.device_memory_bytes END AS dump_bytes,
    CASE WHEN m.color = 0 AND m.platform IS DISTINCT FROM 'cpu'
      THEN d.memory_bytes END AS chip_bytes
  FROM module_memory AS m
  JOIN selected_run() AS c USING (run_id)
  JOIN runs AS r USING (run_id)
  LEFT JOIN device_memory AS d USING (device)
  WHERE ($program IS NULL OR m.program = $program)
    AND ($color IS NULL OR m.color = $color)
),
sourced AS (
  SELECT
    *,
    CASE
      WHEN asked_bytes IS NOT NULL THEN 'parameter'
      WHEN dump_bytes IS NOT NULL THEN 'dump'
      WHEN chip_bytes IS NOT NULL THEN 'chip'
    END AS limit_from,
    coalesce(asked_bytes, dump_bytes, chip_bytes) AS space_bytes
  FROM limited
),
usable AS (
  SELECT *, CAST(floor(space_bytes * (1 - $slop)) AS BIGINT) AS usable_bytes
  FROM sourced
)
SELECT
  u.run_name AS run, u.program_name AS program, u.module_number, u.rank,
  u.space_color AS color, u.space_name,
  CASE
    WHEN u.usable_bytes IS NULL THEN 'unknown'
    WHEN u.reserved_bytes > u.usable_bytes THEN 'oom'
    WHEN u.usable_bytes - u.reserved_bytes < $warn_ratio * u.space_bytes
      THEN 'warn'
    ELSE 'ok'
  END AS status,
  u.limit_from, u.usable_bytes, u.reserved_bytes,
  u.usable_bytes - u.reserved_bytes AS headroom_bytes,
  (u.usable_bytes - u.reserved_bytes) / nullif(u.space_bytes, 0)
    AS headroom_ratio,
  u.path
FROM usable AS u
ORDER BY
  u.reserved_bytes DESC, u.program_name, u.module_number, u.rank, u.space_color
