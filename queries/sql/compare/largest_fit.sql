-- title: Largest size that fits
-- question: What is the largest batch, sequence or width that fits, and which
--   part of memory grows with it?
-- definition: largest_size, lower_size and upper_size are those of
--   fitting_sizes, by a law for each buffer; where the values of a size are
--   not known, largest_size is that of scaling_law, by a law for the total,
--   and the others are NULL. Beyond twice the greatest compiled size, or what
--   it reserves (is_extrapolated), compile lower_size before you rely on it.
--   constant_bytes, linear_bytes and quadratic_bytes add up to the bytes at
--   largest_size, or else at the greatest compiled size, by the same laws.
--   growing_part is the part of the memory (parameter, constant, live_out or
--   temp) that grows most from the smallest compiled size up to there.
--   is_checked says whether a size was compiled that the laws are not made of;
--   its error is a part of the interval. Helpers of frameworks
--   (library_programs) are left out beside other programs, unless program
--   names one.
-- grain: program, platform, device, compiler version, memory space, axis,
--   other axes
-- empty: no program was compiled at two sizes that differ in one axis only.
--   Compile it at another size; `hlodb query size_axes` lists the known sizes.
-- leading: program, axis_name, other_axes, lower_size, largest_size, max_size,
--   growing_part, growing_bytes
-- param program
-- param series
-- param color
-- param limit_bytes BIGINT = NULL from 0 to 1000000000000000000: Memory of the
--   memory space, color 0 unless color is set; NULL for the limit that is
--   known of it, see memory_limits.
-- param limit_devices
-- param limit_spaces
-- param limit_sizes
-- param module_ids
-- param min_sizes BIGINT = 2 from 2: Least number of sizes for a law.
-- column program
-- column platform
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column compiler_version VARCHAR name neutral: XLA release.
-- column color
-- column space_name
-- column axis VARCHAR name neutral: Dimensions that change together, as in
--   scaling_law.
-- column axis_name VARCHAR name neutral: The dimension of the largest of their
--   arguments, with its name where it is known, such as tokens[0].
-- column other_axes VARCHAR text neutral: Sizes of the other axes; NULL if
--   there are none.
-- column size_count BIGINT count neutral: Number of compiled sizes.
-- column min_size BIGINT count neutral: Smallest compiled size.
-- column max_size BIGINT count neutral: Greatest compiled size.
-- column lower_size BIGINT count higher_is_better: Largest size that fits
--   even if the laws are a little wrong; NULL as largest_size, and where the
--   values of a size are not known.
-- column largest_size BIGINT count higher_is_better: Largest size that fits;
--   NULL without a limit, or if the memory does not grow.
-- column upper_size BIGINT count higher_is_better: Largest size that may fit,
--   if the compiler computes values again where memory is short; NULL as
--   lower_size.
-- column fitting_beyond BIGINT count neutral: Greatest compiled size that fits
--   though a smaller one does not: memory does not only grow with the size,
--   and the sizes before are no bounds; NULL without one.
-- column is_extrapolated BOOLEAN flag neutral: Whether largest_size, or what
--   it reserves, is more than twice that of the greatest compiled size; where
--   the values of a size are not known, only the first. NULL without
--   largest_size.
-- column error_ratio DOUBLE ratio lower_is_better: Largest error of the laws
--   of buffers at a compiled size, as a share of what the greatest reserves.
-- column usable_bytes BIGINT bytes neutral: The limit.
-- column limit_from VARCHAR name neutral: Source of the limit, see headroom.
-- column nominal_bytes BIGINT bytes neutral: Memory of the device, of which
--   the limit is a part; NULL if it is not known.
-- column constant_bytes BIGINT bytes lower_is_better: Bytes that don't depend
--   on the size.
-- column linear_bytes DOUBLE bytes lower_is_better: Bytes per unit of the
--   size.
-- column quadratic_bytes DOUBLE bytes lower_is_better: Bytes per unit of the
--   squared size.
-- column max_residual_bytes BIGINT bytes lower_is_better: Largest distance of
--   a compiled size from the law.
-- column is_checked BOOLEAN flag neutral: Whether there are more sizes than
--   the law needs.
-- column growing_part VARCHAR name neutral: Part of the memory that grows
--   most; NULL if none does.
-- column growing_bytes BIGINT bytes lower_is_better: Bytes by which that part
--   grows from min_size to largest_size, or else to max_size.
-- column caveat VARCHAR text neutral: What the bytes lack, see headroom.
WITH predictions AS MATERIALIZED (
  SELECT * FROM fitting_sizes()
),
totals AS MATERIALIZED (
  SELECT * FROM scaling_law()
),
laws AS MATERIALIZED (
  SELECT
    t.* REPLACE (
      coalesce(p.largest_size, t.largest_size) AS largest_size,
      coalesce(p.constant_bytes, t.constant_bytes) AS constant_bytes,
      coalesce(p.linear_bytes, t.linear_bytes) AS linear_bytes,
      coalesce(p.quadratic_bytes, t.quadratic_bytes) AS quadratic_bytes,
      CASE WHEN p.constant_bytes IS NULL THEN t.max_residual_bytes
        ELSE p.max_residual_bytes END AS max_residual_bytes
    ),
    p.axis_name, p.lower_size, p.upper_size, p.fitting_beyond, p.error_ratio,
    coalesce(p.is_extrapolated, t.largest_size > 2 * t.max_size)
      AS is_extrapolated,
    p.constant_bytes IS NOT NULL AS is_by_buffers, p.growing_part,
    p.growing_bytes
  FROM totals AS t
  LEFT JOIN predictions AS p
    ON p.subject = t.subject
    AND p.color = t.color
    AND p.axis = t.axis
    AND p.other_axes IS NOT DISTINCT FROM t.other_axes
    AND t.part = 'reserved'
),
growing AS (
  SELECT
    g.subject, g.color AS space_color, g.axis, g.other_axes,
    arg_max(g.part, (g.bytes, g.part)) AS part, max(g.bytes) AS bytes
  FROM (
    SELECT
      p.*, CAST(round(
        p.linear_bytes * (coalesce(t.largest_size, t.max_size) - t.min_size)
        + p.quadratic_bytes * (
          coalesce(t.largest_size, t.max_size) ** 2 - t.min_size ** 2
        )
      ) AS BIGINT) AS bytes
    FROM totals AS t
    JOIN totals AS p
      ON p.subject = t.subject
      AND p.color = t.color
      AND p.axis = t.axis
      AND p.other_axes IS NOT DISTINCT FROM t.other_axes
    WHERE t.part = 'reserved'
      AND p.part IN ('parameter', 'constant', 'live_out', 'temp')
  ) AS g
  WHERE g.bytes > 0
  GROUP BY g.subject, g.color, g.axis, g.other_axes
)
SELECT
  t.program, t.platform, t.device, t.compiler_version, t.color, t.space_name,
  t.axis, coalesce(t.axis_name, t.axis) AS axis_name, t.other_axes,
  t.size_count, t.min_size, t.max_size, t.lower_size, t.largest_size,
  t.upper_size, t.fitting_beyond,
  t.is_extrapolated, t.error_ratio, t.usable_bytes, t.limit_from,
  t.nominal_bytes,
  t.constant_bytes, t.linear_bytes, t.quadratic_bytes,
  t.max_residual_bytes, t.size_count > 2 AS is_checked,
  CASE WHEN t.is_by_buffers THEN t.growing_part ELSE m.part END
    AS growing_part,
  CASE WHEN t.is_by_buffers THEN t.growing_bytes ELSE m.bytes END
    AS growing_bytes, t.caveat
FROM laws AS t
LEFT JOIN growing AS m
  ON m.subject = t.subject
  AND m.space_color = t.color
  AND m.axis = t.axis
  AND m.other_axes IS NOT DISTINCT FROM t.other_axes
LEFT JOIN (
  SELECT DISTINCT y.name FROM library_programs() AS y
) AS h ON h.name = t.program
WHERE t.part = 'reserved'
  AND (
    h.name IS NULL
    OR $program IS NOT NULL
    OR NOT EXISTS (
      SELECT 1
      FROM totals AS o
      WHERE o.program NOT IN (SELECT y.name FROM library_programs() AS y)
    )
  )
ORDER BY
  t.program, t.platform, t.device, t.compiler_version, t.color, t.axis,
  t.other_axes, t.subject
