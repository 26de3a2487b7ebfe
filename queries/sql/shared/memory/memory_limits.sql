-- title: Limits of memory spaces
-- question: How many bytes of a memory space may a program use, and who says
--   so?
-- definition: The first of these that is known. parameter: limit_bytes, of
--   color 0 unless color is set. log: the capacity of HBM, or the limit of
--   XLA's allocator on a GPU, that a report of running out of memory names, in
--   a log of the same run, unless it is the whole memory of a chip of which
--   less is usable. settings: the first of limit_devices that fits
--   device and memory space. dump: the device's memory, as GPU dumps record
--   it. chip: the part of the memory that libtpu fills (device_memory). Log,
--   dump and chip are about color 0 of programs that are not compiled for the
--   host (platform cpu).
-- grain: run, platform, memory space
-- param color
-- param limit_bytes BIGINT = NULL from 0 to 1000000000000000000: Memory of the
--   memory space, color 0 unless color is set; NULL for the limit that is
--   known of it.
-- param limit_devices
-- param limit_spaces
-- param limit_sizes
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs; NULL for all.
-- column run_id
-- column platform
-- column color
-- column space_name
-- column limit_bytes BIGINT bytes neutral: The limit; NULL if none is known.
-- column limit_from VARCHAR name neutral: parameter, log, settings, dump or
--   chip.
-- column nominal_bytes BIGINT bytes neutral: Published memory of the device,
--   of which the limit is a part; NULL if it is not known.
-- column device VARCHAR name neutral: Chip or GPU architecture.
WITH spaces AS (
  SELECT DISTINCT
    m.run_id, m.platform, m.color AS space_color, m.space_name,
    m.color = 0 AND m.platform IS DISTINCT FROM 'cpu' AS is_main
  FROM (
    -- Unnested, they are taken for a few rows.
    SELECT
      unnest(list_distinct(coalesce(
        $run_ids, (SELECT list(r.run_id) FROM runs AS r)
      ))) AS run_id
  ) AS w
  JOIN module_memory AS m USING (run_id)
),
logged AS (
  SELECT
    o.run_id,
    min(
      CASE WHEN o.form = 'allocation' THEN o.limit_bytes
        ELSE o.capacity_bytes END
    ) AS bytes
  FROM oom_reports AS o
  WHERE (o.form = 'program_memory' AND lower(o.space_name) = 'hbm')
    -- That of cudaMallocAsync is no limit: it gives more.
    OR (
      o.form = 'allocation'
      AND regexp_matches(o.allocator_name, '^GPU_[0-9]+_bfc$')
    )
  GROUP BY o.run_id
),
configured AS (
  SELECT r.run_id, l.space, arg_min(l.bytes, l.ordinal) AS bytes
  FROM (
    SELECT
      unnest($limit_devices) AS pattern, unnest($limit_spaces) AS space,
      unnest($limit_sizes) AS bytes,
      unnest(range(1, len($limit_sizes) + 1)) AS ordinal
  ) AS l
  JOIN runs AS r ON coalesce(r.device, '') GLOB l.pattern
  GROUP BY r.run_id, l.space
),
found AS (
  SELECT
    s.*, r.device,
    CASE WHEN s.space_color = coalesce($color, 0) THEN $limit_bytes END
      AS asked_bytes,
    CASE WHEN s.is_main AND (
      d.usable_bytes IS NULL OR g.bytes <> d.memory_bytes
    ) THEN g.bytes END AS log_bytes,
    f.bytes AS settings_bytes,
    CASE WHEN s.is_main THEN r.device_memory_bytes END AS dump_bytes,
    CASE WHEN s.is_main THEN d.usable_bytes END AS chip_bytes,
    CASE WHEN s.is_main THEN coalesce(r.device_memory_bytes, d.memory_bytes)
    END AS nominal_bytes
  FROM spaces AS s
  JOIN runs AS r USING (run_id)
  LEFT JOIN device_memory AS d USING (device)
  LEFT JOIN logged AS g USING (run_id)
  LEFT JOIN configured AS f
    ON f.run_id = s.run_id
    AND f.space = s.space_name
)
SELECT
  f.run_id, f.platform, f.space_color AS color, f.space_name,
  coalesce(
    f.asked_bytes, f.log_bytes, f.settings_bytes, f.dump_bytes, f.chip_bytes
  ) AS limit_bytes,
  CASE
    WHEN f.asked_bytes IS NOT NULL THEN 'parameter'
    WHEN f.log_bytes IS NOT NULL THEN 'log'
    WHEN f.settings_bytes IS NOT NULL THEN 'settings'
    WHEN f.dump_bytes IS NOT NULL THEN 'dump'
    WHEN f.chip_bytes IS NOT NULL THEN 'chip'
  END AS limit_from,
  f.nominal_bytes, f.device
FROM found AS f
