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
--   shared_bytes. reserved_bytes is that of the buffer assignment, else the
--   total of the memory report, else of its listed allocations. Modules that
--   only have live ranges have one row without sizes.
-- grain: module occurrence, memory space
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
-- column missing VARCHAR text neutral: Kinds of files that are missing for a
--   peak.
-- column path
WITH finals AS MATERIALIZED (
  SELECT
    f.run, f.program, f.module_number, f.rank, f.module_id, f.path,
    f.platform, m.entry_computation_id, m.is_scheduled, m.has_assignment,
    m.instruction_count, m.part
  FROM final_modules() AS f
  JOIN modules AS m
    ON m.run_id = f.run_id
    AND m.module_id = f.module_id
    AND m.path = f.path
),
unmeasured AS MATERIALIZED (
  SELECT *
  FROM finals AS f
  WHERE NOT EXISTS (
    SELECT 1
    FROM memory_profile AS p
    WHERE p.module_id = f.module_id
      AND p.live_peak_bytes IS NOT NULL
  )
),
contents AS MATERIALIZED (
  SELECT DISTINCT module_id, entry_computation_id, is_scheduled
  FROM unmeasured
),
entry AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, f.shape, c.is_scheduled, f.parameter_number,
    i.instruction_id = n.root_instruction_id AS is_result,
    f.opcode = 'parameter' AS is_argument,
    f.opcode IN (
      'broadcast', 'compare', 'concatenate', 'convert', 'convolution', 'dot',
      'fusion', 'gather', 'iota', 'pad', 'reduce', 'reduce-window',
      'reverse', 'slice', 'dynamic-slice', 'transpose'
    ) AS is_new
  FROM contents AS c
  JOIN computations AS n
    ON n.module_id = c.module_id
    AND n.computation_id = c.entry_computation_id
  JOIN store.instructions AS i
    ON i.module_id = c.module_id
    AND i.computation_id = c.entry_computation_id
  JOIN store.instruction_forms AS f USING (form_id)
),
arrays AS (
  SELECT
    e.*,
    unnest(regexp_extract_all(
      e.shape, '[a-z][a-z0-9]*\[[^\]]*\](\{[^}]*\})?'
    )) AS array_shape,
    unnest(range(len(regexp_extract_all(
      e.shape, '[a-z][a-z0-9]*\[[^\]]*\](\{[^}]*\})?'
    )))) AS place
  FROM entry AS e
  WHERE e.is_argument OR e.is_result OR (e.is_new AND e.is_scheduled)
),
read AS (
  SELECT
    *,
    regexp_extract(array_shape, '^[a-z][a-z0-9]*') AS element_type,
    CASE
      WHEN regexp_extract(array_shape, '\[([^\]]*)\]', 1) = '' THEN []
      ELSE list_transform(
        string_split(replace(
          regexp_extract(array_shape, '\[([^\]]*)\]', 1), '<=', ''
        ), ','), lambda x: TRY_CAST(x AS HUGEINT)
      )
    END AS sizes,
    CASE
      WHEN regexp_extract(array_shape, '\]\{([0-9,]*)', 1) = '' THEN []
      ELSE list_transform(
        string_split(regexp_extract(array_shape, '\]\{([0-9,]*)', 1), ','),
        lambda x: TRY_CAST(x AS INTEGER)
      )
    END AS minor_order,
    list_reverse(list_transform(
      string_split(nullif(regexp_extract(
        array_shape, ':[^S]*?T\(([0-9,]*)\)', 1
      ), ''), ','), lambda x: TRY_CAST(x AS HUGEINT)
    )) AS tile_sizes,
    coalesce(TRY_CAST(nullif(
      regexp_extract(array_shape, 'S\((\d+)\)', 1), ''
    ) AS INTEGER), 0) AS array_color,
    TRY_CAST(nullif(regexp_extract(array_shape, 'E\((\d+)\)', 1), '')
      AS INTEGER) AS packed_bits
  FROM arrays
),
ordered AS (
  SELECT
    *,
    CASE
      WHEN len(minor_order) = len(sizes)
      THEN list_transform(minor_order, lambda p: sizes[p + 1])
      ELSE list_reverse(sizes)
    END AS minor_sizes,
    CASE
      WHEN packed_bits IS NOT NULL THEN packed_bits
      WHEN element_type IN ('token', 'opaque') THEN 0
      ELSE greatest(8, coalesce(TRY_CAST(nullif(
        regexp_extract(element_type, '^[a-z]+(\d+)', 1), ''
      ) AS INTEGER), 8))
    END AS bits
  FROM read
),
sized AS MATERIALIZED (
  SELECT
    module_id, instruction_id, shape, parameter_number, is_result,
    is_argument, is_new, is_scheduled, place, array_color,
    (CAST(bits AS HUGEINT) * list_reduce(
      list_transform(
        range(1, greatest(
          len(minor_sizes), coalesce(len(tile_sizes), 0)
        ) + 1),
        lambda p: CASE
          WHEN p <= coalesce(len(tile_sizes), 0)
          THEN (coalesce(minor_sizes[p], 1) + tile_sizes[p] - 1)
            // tile_sizes[p] * tile_sizes[p]
          ELSE minor_sizes[p]
        END
      ),
      lambda x, y: x * y, CAST(1 AS HUGEINT)
    ) + 7) // 8 AS array_bytes
  FROM ordered
  WHERE len(list_filter(sizes, lambda x: x IS NULL)) = 0
),
shared AS (
  -- Of a nested result the index does not tell the array: all may be shared.
  SELECT
    s.module_id, s.array_color, sum(s.array_bytes) AS array_bytes
  FROM sized AS s
  WHERE s.is_result
    AND EXISTS (
      SELECT 1
      FROM aliases AS a
      WHERE a.module_id = s.module_id
        AND a.kind <> 'donor'
        AND (
          a.output_index IN ('{}', '{' || s.place || '}')
          OR s.shape LIKE '%((%'
          OR s.shape LIKE '%, (%'
        )
    )
  GROUP BY s.module_id, s.array_color
  UNION ALL
  SELECT s.module_id, s.array_color, sum(s.array_bytes)
  FROM sized AS s
  WHERE s.is_argument
    AND EXISTS (
      SELECT 1
      FROM aliases AS a
      WHERE a.module_id = s.module_id
        AND a.kind = 'donor'
        AND a.parameter_number = s.parameter_number
    )
  GROUP BY s.module_id, s.array_color
),
shares AS (
  SELECT module_id, array_color, sum(array_bytes) AS shared
  FROM shared
  GROUP BY module_id, array_color
),
totals AS MATERIALIZED (
  SELECT
    s.module_id, s.array_color AS space_color,
    coalesce(sum(s.array_bytes) FILTER (WHERE s.is_argument), 0) AS arguments,
    coalesce(sum(s.array_bytes) FILTER (WHERE s.is_result), 0) AS results,
    max(s.array_bytes)
      FILTER (WHERE s.is_new AND s.is_scheduled AND s.shape NOT LIKE '(%')
      AS largest
  FROM sized AS s
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
  CAST(coalesce(p.reserved_bytes, r.total_bytes, a.listed) AS BIGINT)
    AS reserved_bytes,
  CASE
    WHEN p.reserved_bytes IS NOT NULL THEN 'assignment'
    WHEN coalesce(r.total_bytes, a.listed) IS NOT NULL THEN 'report'
  END AS reserved_from,
  CAST(t.arguments AS BIGINT) AS argument_bytes,
  CAST(t.results AS BIGINT) AS result_bytes,
  CASE WHEN t.arguments IS NOT NULL
    THEN CAST(coalesce(h.shared, 0) AS BIGINT) END AS shared_bytes,
  CAST(t.largest AS BIGINT) AS largest_bytes,
  CAST(t.arguments + greatest(
    0, greatest(t.results, coalesce(t.largest, 0)) - coalesce(h.shared, 0)
  ) AS BIGINT) AS least_bytes,
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
