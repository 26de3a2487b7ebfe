-- title: How memory grows with a size
-- question: How does a program's memory grow with batch size, sequence length
--   or width, and what is the largest size that fits?
-- definition: Compilations that differ in one axis of size_axes, all others
--   being equal (other_axes). To each part of their memory a law is fitted:
--   constant_bytes + linear_bytes * size + quadratic_bytes * size * size, by
--   least squares with coefficients of at least 0, of those with the fewest
--   terms whose residual variance (squares over sizes minus terms) is least. A
--   law with three terms needs four sizes. largest_size is the greatest for
--   which the law of reserved_bytes stays within the limit: that of color 0 as
--   headroom has it, or limit_bytes. Beyond max_size it is a guess, for
--   compilers change their mind with the size. Dumps for CPU and GPU don't say
--   the compiler's version: of these, name a series of one.
-- grain: program, platform, device, compiler version, memory space, axis,
--   other axes, part
-- empty: no program was compiled at min_sizes sizes (3 unless set) that differ
--   in one axis alone. Compile it at one more, or ask with -p min_sizes=2;
--   `hlodb query size_axes` lists the sizes there are. Where the dumps don't
--   say the compiler's version, name a series whose runs have the same.
-- leading: program, space_name, axis, part, constant_bytes, linear_bytes,
--   quadratic_bytes, r2_ratio
-- param program
-- param series
-- param color
-- param limit_bytes BIGINT = NULL from 0 to 1000000000000000000: Bytes that
--   the memory space has, which is 0 unless one is asked for; NULL for what
--   the dump or the chip's maker says.
-- param module_ids
-- param min_sizes BIGINT = 3 from 0: Only laws from at least so many sizes.
-- column program
-- column platform
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column compiler_version VARCHAR name neutral: XLA release.
-- column color
-- column space_name
-- column axis VARCHAR name neutral: Dimensions that grow together, such as
--   4[0], 5[0]: number of the array parameter, then of the dimension.
-- column other_axes VARCHAR text neutral: Sizes of the others, such as 4[1],
--   5[1] = 128; NULL where there is none.
-- column example_run VARCHAR name neutral: Run of the greatest size.
-- column module_number INTEGER id neutral: XLA's number of the module there:
--   which one it is of several that share a name.
-- column part VARCHAR name neutral: reserved, live_peak, parameter, constant,
--   live_out or temp.
-- column size_count BIGINT count neutral: Sizes that were compiled.
-- column min_size BIGINT count neutral: The least of them.
-- column max_size BIGINT count neutral: The greatest of them.
-- column constant_bytes BIGINT bytes lower_is_better: Bytes that don't depend
--   on the size.
-- column linear_bytes DOUBLE bytes lower_is_better: Bytes for each unit of it.
-- column quadratic_bytes DOUBLE bytes lower_is_better: Bytes for each unit of
--   its square.
-- column r2_ratio DOUBLE ratio higher_is_better: Share of the variance that
--   the law explains; NULL where the bytes are always the same.
-- column max_residual_bytes BIGINT bytes lower_is_better: How far the law is
--   off, at most.
-- column usable_bytes BIGINT bytes neutral: The limit.
-- column largest_size BIGINT count higher_is_better: The largest that fits.
-- column subject BIGINT id neutral: Number of the subject, as size_slices has
--   it for the same parameters.
WITH slices AS MATERIALIZED (
  SELECT
    s.program AS program_name, s.platform, s.device, s.compiler_version,
    s.subject, s.color AS space_color, s.space_name, s.run_id,
    s.module_number, s.module_id,
    s.axis, s.axis_size, s.other_axes
  FROM size_slices() AS s
),
measured AS (
  SELECT
    s.subject, s.space_color, s.axis, s.other_axes,
    struct_pack(run_id := s.run_id, module_number := s.module_number)
      AS sighting,
    CAST(s.axis_size AS DOUBLE) AS size,
    unnest([
      'reserved', 'live_peak', 'parameter', 'constant', 'live_out', 'temp'
    ]) AS part,
    CAST(unnest([
      p.reserved_bytes, p.live_peak_bytes, p.parameter_bytes,
      p.constant_bytes, p.live_out_bytes, p.temp_bytes
    ]) AS DOUBLE) AS bytes
  FROM slices AS s
  JOIN memory_profile AS p
    ON p.module_id = s.module_id
    AND p.color = s.space_color
),
points AS MATERIALIZED (
  -- Of 0 to 1, lest powers of sizes and bytes cancel one another out.
  SELECT
    *,
    dense_rank() OVER (
      ORDER BY subject, space_color, axis, other_axes, part
    ) AS law,
    size / max(size) OVER same_law AS x,
    bytes / nullif(max(bytes) OVER same_law, 0) AS y
  FROM measured
  WHERE bytes IS NOT NULL
  WINDOW same_law AS (
    PARTITION BY subject, space_color, axis, other_axes, part
  )
),
sums AS (
  SELECT
    law, subject, space_color, axis, other_axes, part, count(*) AS n,
    count(DISTINCT size) AS size_count, min(size) AS min_size,
    max(size) AS max_size, arg_max(sighting, (size, sighting)) AS greatest,
    max(bytes) AS max_bytes, sum(x) AS s1,
    sum(x * x) AS s2, sum(x ** 3) AS s3, sum(x ** 4) AS s4, sum(y) AS t0,
    sum(x * y) AS t1, sum(x * x * y) AS t2, sum(y * y) AS yy
  FROM points
  WHERE y IS NOT NULL
  GROUP BY law, subject, space_color, axis, other_axes, part
),
-- Normal equations, by Cramer's rule.
candidates AS (
  SELECT law, 1 AS terms, t0 / n AS a, 0.0 AS b, 0.0 AS c FROM sums
  UNION ALL
  SELECT law, 1, 0.0, t1 / s2, 0.0 FROM sums
  UNION ALL
  SELECT law, 1, 0.0, 0.0, t2 / s4 FROM sums
  UNION ALL
  SELECT
    law, 2, (t0 * s2 - t1 * s1) / (n * s2 - s1 * s1),
    (t1 * n - t0 * s1) / (n * s2 - s1 * s1), 0.0
  FROM sums
  UNION ALL
  SELECT
    law, 2, (t0 * s4 - t2 * s2) / (n * s4 - s2 * s2), 0.0,
    (t2 * n - t0 * s2) / (n * s4 - s2 * s2)
  FROM sums
  UNION ALL
  SELECT
    law, 2, 0.0, (t1 * s4 - t2 * s3) / (s2 * s4 - s3 * s3),
    (t2 * s2 - t1 * s3) / (s2 * s4 - s3 * s3)
  FROM sums
  UNION ALL
  SELECT
    law, 3,
    (
      t0 * (s2 * s4 - s3 * s3) - s1 * (t1 * s4 - t2 * s3)
      + s2 * (t1 * s3 - t2 * s2)
    ) / determinant,
    (
      n * (t1 * s4 - t2 * s3) - t0 * (s1 * s4 - s2 * s3)
      + s2 * (s1 * t2 - s2 * t1)
    ) / determinant,
    (
      n * (s2 * t2 - s3 * t1) - s1 * (s1 * t2 - s2 * t1)
      + t0 * (s1 * s3 - s2 * s2)
    ) / determinant
  FROM (
    SELECT
      *,
      n * (s2 * s4 - s3 * s3) - s1 * (s1 * s4 - s2 * s3)
      + s2 * (s1 * s3 - s2 * s2) AS determinant
    FROM sums
  )
  WHERE size_count > 3
),
fitted AS (
  SELECT
    c.law, c.terms, c.a, c.b, c.c,
    sum((p.y - c.a - c.b * p.x - c.c * p.x * p.x) ** 2) AS squares,
    max(abs(p.y - c.a - c.b * p.x - c.c * p.x * p.x)) AS max_residual
  FROM candidates AS c
  JOIN points AS p USING (law)
  WHERE c.a >= 0
    AND c.b >= 0
    AND c.c >= 0
  GROUP BY c.law, c.terms, c.a, c.b, c.c
),
best AS (
  SELECT f.*
  FROM fitted AS f
  JOIN sums AS s USING (law)
  WHERE s.n > f.terms
    AND s.size_count >= $min_sizes
  QUALIFY row_number() OVER (
    PARTITION BY f.law
    ORDER BY round(f.squares / (s.n - f.terms), 12), f.terms, f.c, f.b
  ) = 1
),
subjects AS (
  SELECT
    a.subject, a.space_color, a.program_name, a.platform, a.device,
    a.compiler_version, min(a.space_name) AS space_name,
    coalesce(
      max(CASE WHEN a.space_color = coalesce($color, 0)
        THEN $limit_bytes END),
      max(CASE WHEN a.space_color = 0 AND a.platform IS DISTINCT FROM 'cpu'
        THEN r.device_memory_bytes END),
      max(CASE WHEN a.space_color = 0 AND a.platform IS DISTINCT FROM 'cpu'
        THEN d.memory_bytes END)
    ) AS usable_bytes
  FROM slices AS a
  JOIN runs AS r USING (run_id)
  LEFT JOIN device_memory AS d ON d.device = a.device
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
    u.program_name, u.platform, u.device, u.compiler_version, u.space_name
  FROM sums AS s
  JOIN best AS b USING (law)
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
  CAST(floor(CASE
    WHEN l.constant > l.usable_bytes THEN 0
    WHEN l.quadratic > 1e-6 THEN (sqrt(
      l.linear ** 2 + 4 * l.quadratic * (l.usable_bytes - l.constant)
    ) - l.linear) / (2 * l.quadratic)
    WHEN l.linear > 1e-6 THEN (l.usable_bytes - l.constant) / l.linear
  END + 1e-9) AS BIGINT) AS largest_size,
  l.subject
FROM laws AS l
JOIN runs AS r ON r.run_id = l.greatest.run_id
ORDER BY
  l.program_name, l.platform, l.device, l.compiler_version, l.space_color,
  l.axis, l.other_axes, l.greatest.run_id, module_number, l.subject,
  l.max_bytes DESC, l.part
