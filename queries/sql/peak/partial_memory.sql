-- title: Memory of programs without a known peak
-- question: What is known of the memory of programs whose dump lacks files,
--   and which files would tell more?
-- definition: Last snapshots of modules without a live peak, per memory space.
--   argument_bytes and result_bytes are arrays of the entry computation,
--   padded to the first tile of their layout. shared_bytes are results that
--   may lie in the bytes of an argument, and arguments that the program may
--   overwrite. largest_bytes is the largest array that one scheduled
--   instruction of the entry computation makes, where its opcode always makes
--   a new one. least_bytes, which is no more than the peak, is
--   argument_bytes plus the greater of result_bytes and largest_bytes, less
--   shared_bytes. Shapes before optimisations are those of all partitions
--   together: these sizes are divided by split_count then, the least that a
--   device can hold. reserved_bytes is that of the buffer assignment, else the
--   total of the memory report, else of its listed allocations. Modules that
--   only have live ranges have one row without sizes.
-- grain: module occurrence, memory space
-- steps: unmeasured, entry_instructions, sized_arrays, shares
-- leading: program, space_name, least_bytes, reserved_bytes, missing
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column color INTEGER id neutral: Memory space; NULL where nothing tells.
-- column space_name
-- column has_hlo BOOLEAN flag neutral: Whether there are instructions.
-- column has_ranges BOOLEAN flag neutral: Whether there are live ranges.
-- column reserved_bytes BIGINT bytes lower_is_better: Bytes reserved; NULL
--   where neither assignment nor report is there.
-- column reserved_from VARCHAR name neutral: assignment or report: the file
--   that says so.
-- column argument_bytes BIGINT bytes lower_is_better: Arguments.
-- column result_bytes BIGINT bytes lower_is_better: Results.
-- column shared_bytes BIGINT bytes neutral: Results and arguments that may
--   share bytes.
-- column largest_bytes BIGINT bytes lower_is_better: Largest array of one
--   instruction; NULL where the HLO is not scheduled.
-- column least_bytes BIGINT bytes lower_is_better: Lower bound of the peak;
--   NULL without instructions.
-- column split_count BIGINT count neutral: By how many partitions the sizes
--   are divided; 1 where shapes are those of one device.
-- column missing VARCHAR text neutral: Kinds of files that are missing for a
--   peak.
-- column path
WITH totals AS MATERIALIZED (
  SELECT
    s.module_id, s.array_color AS space_color,
    coalesce(sum(s.array_bytes) FILTER (WHERE s.is_argument), 0) AS arguments,
    coalesce(sum(s.array_bytes) FILTER (WHERE s.is_result), 0) AS results,
    max(s.array_bytes)
      FILTER (WHERE s.is_new AND s.is_scheduled AND s.shape NOT LIKE '(%')
      AS largest
  FROM sized_arrays AS s
  GROUP BY s.module_id, s.array_color
),
known AS (
  SELECT t.module_id, t.space_color FROM totals AS t
  UNION
  SELECT p.module_id, p.color FROM memory_profile AS p
  UNION
  SELECT r.module_id, r.color FROM memory_reports AS r
),
spaces AS (
  SELECT
    u.*, k.space_color,
    EXISTS (
      SELECT 1 FROM store.live_ranges AS l WHERE l.module_id = u.module_id
    ) AS has_live_ranges
  FROM unmeasured AS u
  LEFT JOIN known AS k USING (module_id)
)
SELECT
  s.run, s.program, s.module_number, s.rank, s.space_color AS color,
  CASE WHEN s.space_color IS NOT NULL THEN
    coalesce(n.space_name, 'color_' || s.space_color)
  END AS space_name,
  s.instruction_count > 0 AS has_hlo, s.has_live_ranges AS has_ranges,
  TRY_CAST(coalesce(p.reserved_bytes, r.total_bytes, a.listed) AS BIGINT)
    AS reserved_bytes,
  CASE
    WHEN p.reserved_bytes IS NOT NULL THEN 'assignment'
    WHEN coalesce(r.total_bytes, a.listed) IS NOT NULL THEN 'report'
  END AS reserved_from,
  TRY_CAST(t.arguments // s.split_count AS BIGINT) AS argument_bytes,
  TRY_CAST(t.results // s.split_count AS BIGINT) AS result_bytes,
  CASE WHEN t.arguments IS NOT NULL THEN
    TRY_CAST(coalesce(h.shared, 0) // s.split_count AS BIGINT)
  END AS shared_bytes,
  TRY_CAST(t.largest // s.split_count AS BIGINT) AS largest_bytes,
  TRY_CAST((t.arguments + greatest(
    0, greatest(t.results, coalesce(t.largest, 0)) - coalesce(h.shared, 0)
  )) // s.split_count AS BIGINT) AS least_bytes,
  CAST(s.split_count AS BIGINT) AS split_count,
  array_to_string(list_filter([
    CASE WHEN NOT s.instruction_count > 0 THEN 'HLO text' END,
    CASE WHEN NOT coalesce(s.has_assignment, FALSE)
      THEN 'buffer assignment' END,
    CASE WHEN NOT s.has_live_ranges THEN 'live ranges' END
  ], lambda x: x IS NOT NULL), ', ') AS missing,
  s.path
FROM spaces AS s
LEFT JOIN totals AS t
  ON t.module_id = s.module_id
  AND t.space_color = s.space_color
LEFT JOIN shares AS h
  ON h.module_id = s.module_id
  AND h.array_color = s.space_color
LEFT JOIN memory_profile AS p
  ON p.module_id = s.module_id
  AND p.color = s.space_color
LEFT JOIN (
  SELECT o.module_id, o.color, max(o.total_bytes) AS total_bytes
  FROM memory_reports AS o
  GROUP BY o.module_id, o.color
) AS r
  ON r.module_id = s.module_id
  AND r.color = s.space_color
LEFT JOIN (
  SELECT o.module_id, o.color, sum(o.size_bytes) AS listed
  FROM memory_report_allocations AS o
  GROUP BY o.module_id, o.color
) AS a
  ON a.module_id = s.module_id
  AND a.color = s.space_color
LEFT JOIN memory_spaces AS n
  ON n.platform = s.platform
  AND n.color = s.space_color
ORDER BY
  coalesce(
    CAST(coalesce(p.reserved_bytes, r.total_bytes, a.listed) AS HUGEINT),
    t.arguments + t.results, 0
  ) DESC,
  s.program, s.module_number, s.rank, s.space_color, s.path, s.part
