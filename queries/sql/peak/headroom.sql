-- title: Headroom below the memory limit
-- question: How far is every program from the memory limit of its device, and
--   which would run out of memory?
-- definition: Headroom is the limit times (1 - slop), minus reserved_bytes.
--   status: oom if it is negative or if the compiler refused the program
--   (refused_modules), warn if it is less than warn_ratio of the limit, or if
--   the program needs more than the 75 % of a GPU that JAX uses by default and
--   only the dump states the limit, else ok; unknown without a limit, and
--   instead of ok or warn where places of the buffer assignment could not be
--   read. memory_limits says where limits come from: that of a TPU is what its
--   compiler fills, not the published memory. The other memory spaces of a GPU
--   share its main memory. Programs compiled for the host (platform cpu) have
--   no limit. reserved_bytes is the buffer assignment: the program's code,
--   arrays that live between its runs, and other programs come on top.
-- grain: module occurrence, memory space
-- leading: program, space_name, status, headroom_bytes, headroom_ratio,
--   reserved_bytes, usable_bytes, limit_from
-- param run
-- param program
-- param color
-- param limit_bytes BIGINT = NULL from 0 to 1000000000000000000: Memory of the
--   memory space, color 0 unless color is set; NULL for the limit that is
--   known of it, see memory_limits.
-- param limit_devices
-- param limit_spaces
-- param limit_sizes
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
-- column is_refused BOOLEAN flag neutral: Whether the compiler gave the
--   program up for lack of this memory.
-- column limit_from VARCHAR name neutral: Source of the limit: parameter, log,
--   settings, dump, or chip (what the compiler fills); NULL without a limit.
-- column nominal_bytes BIGINT bytes neutral: Memory of the device, of which
--   the limit is a part; NULL if it is not known.
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column usable_bytes BIGINT bytes neutral: Limit times 1 - slop.
-- column reserved_bytes
-- column headroom_bytes BIGINT bytes higher_is_better: Bytes left below the
--   limit; NULL if the compiler refused a program that seems to fit.
-- column headroom_ratio DOUBLE ratio higher_is_better: Share of the limit that
--   is left.
-- column is_cut BOOLEAN flag neutral: Whether a part of the buffer assignment
--   could not be read, so that reserved_bytes is the least.
-- column caveat VARCHAR text neutral: What reserved_bytes lacks; NULL if
--   nothing special is known.
-- column path
WITH chosen AS (
  SELECT c.run_id AS chosen_id FROM selected_run() AS c
),
measured AS (
  SELECT
    m.run_id, m.run AS run_name, m.program AS program_name, m.module_number,
    m.rank, m.path, m.color AS space_color, m.space_name, m.reserved_bytes,
    m.platform, m.module_id, o.folder
  FROM module_memory AS m
  JOIN chosen AS c ON c.chosen_id = m.run_id
  JOIN modules AS o USING (run_id, path, part)
  -- Said again, as a constant: then DuckDB reads no other runs.
  WHERE ($run IS NULL OR m.run = $run)
    AND ($program IS NULL OR m.program = $program)
    AND ($color IS NULL OR m.color = $color)
),
refused AS (
  SELECT * FROM refused_modules()
),
cut AS (
  SELECT DISTINCT f.module_id
  FROM chosen AS c
  JOIN rejects AS r ON r.run_id = c.chosen_id
  JOIN dump_files AS f USING (run_id, path)
  WHERE f.kind = 'buffer_assignment'
),
judged AS (
  SELECT
    m.*,
    nullif(concat_ws('; ', t.caveat, CASE WHEN p.module_id IS NOT NULL
      THEN 'what could not be read of the buffer assignment is not included'
    END, CASE WHEN l.limit_from = 'dump' AND m.reserved_bytes > 0.75
      * l.limit_bytes THEN 'JAX uses 75 % of a GPU unless '
      || 'XLA_PYTHON_CLIENT_MEM_FRACTION says otherwise' END), '') AS caveat,
    l.limit_from = 'dump' AND m.reserved_bytes > 0.75 * l.limit_bytes
      AS is_beyond_share,
    p.module_id IS NOT NULL AS is_cut, l.limit_bytes AS space_bytes,
    l.limit_from, l.nominal_bytes, l.device,
    CAST(floor(l.limit_bytes * (1 - $slop)) AS BIGINT) AS usable_bytes,
    EXISTS (
      SELECT 1
      FROM refused AS r
      WHERE r.program = m.program_name
        AND r.space_name = lower(m.space_name)
        AND (
          r.refused_by = 'log'
          OR (
            r.module_number IS NOT DISTINCT FROM m.module_number
            AND r.rank IS NOT DISTINCT FROM m.rank
            AND r.folder IS NOT DISTINCT FROM m.folder
          )
        )
    ) AS is_refused
  FROM measured AS m
  LEFT JOIN memory_limits(run_ids := (
    SELECT list(c.chosen_id) FROM chosen AS c
  )) AS l
    ON l.run_id = m.run_id
    AND l.platform IS NOT DISTINCT FROM m.platform
    AND l.color = m.space_color
    AND l.space_name = m.space_name
  LEFT JOIN run_time_memory(module_ids := (
    SELECT list(DISTINCT n.module_id) FROM measured AS n
  )) AS t
    ON t.module_id = m.module_id
  LEFT JOIN cut AS p ON p.module_id = m.module_id
),
left_over AS (
  SELECT
    *,
    CASE WHEN NOT (is_refused AND reserved_bytes <= usable_bytes)
      THEN usable_bytes - reserved_bytes END AS headroom
  FROM judged
)
SELECT
  u.run_name AS run, u.program_name AS program, u.module_number, u.rank,
  u.space_color AS color, u.space_name,
  CASE
    WHEN u.is_refused THEN 'oom'
    WHEN u.usable_bytes IS NULL THEN 'unknown'
    WHEN u.reserved_bytes > u.usable_bytes THEN 'oom'
    WHEN u.is_cut THEN 'unknown'
    WHEN u.is_beyond_share THEN 'warn'
    WHEN u.usable_bytes - u.reserved_bytes < $warn_ratio * u.space_bytes
      THEN 'warn'
    ELSE 'ok'
  END AS status,
  u.is_refused, u.limit_from, u.nominal_bytes, u.device, u.usable_bytes,
  u.reserved_bytes, u.headroom AS headroom_bytes,
  u.headroom / nullif(u.space_bytes, 0) AS headroom_ratio, u.is_cut, u.caveat,
  u.path
FROM left_over AS u
ORDER BY
  u.reserved_bytes DESC, u.program_name, u.module_number, u.rank, u.space_color
