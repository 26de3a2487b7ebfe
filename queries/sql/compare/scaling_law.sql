-- title: How memory grows with a size
-- question: How does a program's memory grow with batch size, sequence length
--   or width, and what is the largest size that fits?
-- definition: Compilations that differ in one axis of size_axes only;
--   other_axes are the sizes of the others. To each part of their memory a law
--   is fitted by least squares: constant_bytes + linear_bytes * size +
--   quadratic_bytes * size * size, with no negative coefficient. Of the
--   possible subsets of terms, the one with the least residual variance (sum
--   of squares divided by sizes minus terms) is chosen, with fewer terms in a
--   tie; three terms need four sizes, and two sizes give a straight line.
--   largest_size is the greatest size for which the law of reserved_bytes
--   stays within the limit, as in headroom; if its runs have several, the
--   least. Beyond max_size it is an extrapolation: compilers may decide
--   otherwise for larger sizes. Dumps for CPU and GPU do not contain the
--   compiler's version: use series to select runs of one version.
-- grain: program, platform, device, compiler version, memory space, axis,
--   other axes, part
-- steps: slices, points, power_sums, best_laws
-- empty: no program was compiled at min_sizes sizes (3 unless set) that differ
--   in one axis only. Compile it at one more size, or ask with -p min_sizes=2;
--   `hlodb query size_axes` lists the known sizes. If the dumps do not contain
--   the compiler's version, select a series whose runs have the same one.
-- leading: program, space_name, axis, other_axes, part, largest_size,
--   linear_bytes, quadratic_bytes
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
-- param min_sizes BIGINT = 3 from 0: Least number of sizes for a law.
-- column program
-- column platform
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column compiler_version VARCHAR name neutral: XLA release.
-- column color
-- column space_name
-- column axis VARCHAR name neutral: Dimensions that change together, such as
--   4[0], 5[0]: number of the array parameter, then of the dimension, both
--   from 0.
-- column other_axes VARCHAR text neutral: Sizes of the other axes, such as
--   4[1], 5[1] = 128; NULL if there are none.
-- column example_run VARCHAR name neutral: Run with the greatest size.
-- column module_number INTEGER id neutral: XLA's number of the module with the
--   greatest size.
-- column part VARCHAR name neutral: reserved, live_peak, parameter, constant,
--   live_out or temp.
-- column size_count BIGINT count neutral: Number of compiled sizes.
-- column min_size BIGINT count neutral: Smallest compiled size.
-- column max_size BIGINT count neutral: Greatest compiled size.
-- column constant_bytes BIGINT bytes lower_is_better: Bytes that don't depend
--   on the size.
-- column linear_bytes DOUBLE bytes lower_is_better: Bytes per unit of the
--   size.
-- column quadratic_bytes DOUBLE bytes lower_is_better: Bytes per unit of the
--   squared size.
-- column r2_ratio DOUBLE ratio higher_is_better: Share of the variance that
--   the law explains; NULL if the bytes never change.
-- column max_residual_bytes BIGINT bytes lower_is_better: Largest distance of
--   a compiled size from the law.
-- column usable_bytes BIGINT bytes neutral: The limit.
-- column limit_from VARCHAR name neutral: Source of the limit, see headroom.
-- column nominal_bytes BIGINT bytes neutral: Memory of the device, of which
--   the limit is a part; NULL if it is not known.
-- column largest_size BIGINT count higher_is_better: Largest size that fits
--   the limit.
-- column caveat VARCHAR text neutral: What the bytes lack, see headroom.
-- column subject BIGINT id neutral: Number of the subject in size_slices (with
--   the same parameters).
WITH subjects AS (
  SELECT
    a.subject, a.space_color, a.program_name, a.platform, a.device,
    a.compiler_version, min(a.space_name) AS space_name,
    min(l.limit_bytes) AS usable_bytes,
    arg_min(l.limit_from, l.limit_bytes) AS limit_from,
    arg_min(l.nominal_bytes, l.limit_bytes) AS nominal_bytes,
    arg_max(t.caveat, (t.run_time_count, t.module_id)) AS caveat
  FROM slices AS a
  LEFT JOIN memory_limits() AS l
    ON l.run_id = a.run_id
    AND l.platform IS NOT DISTINCT FROM a.platform
    AND l.color = a.space_color
    AND l.space_name = a.space_name
  LEFT JOIN run_time_memory() AS t ON t.module_id = a.module_id
  GROUP BY
    a.subject, a.space_color, a.program_name, a.platform, a.device,
    a.compiler_version
),
laws AS (
  SELECT
    s.*, b.a * s.max_bytes AS constant,
    b.b * s.max_bytes / s.max_size AS linear,
    b.c * s.max_bytes / s.max_size ** 2 AS quadratic,
    1 - b.squares / nullif(
      CASE WHEN s.yy - s.t0 * s.t0 / s.n > 1e-12
        THEN s.yy - s.t0 * s.t0 / s.n END, 0
    ) AS r2_ratio,
    b.max_residual * s.max_bytes AS residual,
    CASE WHEN s.part = 'reserved' THEN u.usable_bytes END AS usable_bytes,
    CASE WHEN s.part = 'reserved' THEN u.limit_from END AS limit_from,
    CASE WHEN s.part = 'reserved' THEN u.nominal_bytes END AS nominal_bytes,
    u.caveat, u.program_name, u.platform, u.device, u.compiler_version,
    u.space_name
  FROM power_sums AS s
  JOIN best_laws AS b USING (law)
  JOIN subjects AS u
    ON u.subject = s.subject
    AND u.space_color = s.space_color
)
SELECT
  l.program_name AS program, l.platform, l.device, l.compiler_version,
  l.space_color AS color, l.space_name, l.axis, l.other_axes,
  r.name AS example_run, l.greatest.module_number AS module_number, l.part,
  l.size_count, CAST(l.min_size AS BIGINT) AS min_size,
  CAST(l.max_size AS BIGINT) AS max_size,
  CAST(round(l.constant) AS BIGINT) AS constant_bytes,
  round(l.linear, 3) AS linear_bytes,
  round(l.quadratic, 6) AS quadratic_bytes, round(l.r2_ratio, 6) AS r2_ratio,
  CAST(round(l.residual) AS BIGINT) AS max_residual_bytes, l.usable_bytes,
  l.limit_from, l.nominal_bytes,
  CAST(floor(CASE
    WHEN l.constant > l.usable_bytes THEN 0
    WHEN l.quadratic > 1e-6 THEN (sqrt(
      l.linear ** 2 + 4 * l.quadratic * (l.usable_bytes - l.constant)
    ) - l.linear) / (2 * l.quadratic)
    WHEN l.linear > 1e-6 THEN (l.usable_bytes - l.constant) / l.linear
  END + 1e-9) AS BIGINT) AS largest_size,
  l.caveat, l.subject
FROM laws AS l
JOIN runs AS r ON r.run_id = l.greatest.run_id
ORDER BY
  l.program_name, l.platform, l.device, l.compiler_version, l.space_color,
  l.axis, l.other_axes, l.greatest.run_id, module_number, l.subject,
  l.max_bytes DESC, l.part
