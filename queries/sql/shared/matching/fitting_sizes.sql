-- title: Largest sizes by the laws of buffers
-- question: Up to which size does a program fit, by how each of its buffers
--   grows?
-- definition: For each series of sizes (size_slices), the dimensions of every
--   buffer of the greatest compiled size grow in proportion between it and the
--   next one, or as a square or cube, by buffers that both have and whose
--   dimensions change as the size does; other buffers take their dimensions
--   from those of the same size. Dimensions are rounded up to tiles. Reserved
--   memory at a size is all allocations that are not temporary, and the
--   highest sum of temporary buffers over the schedule, times the
--   fragmentation at the greatest compiled size. largest_size is the greatest
--   size that stays within the limit. lower_size leaves room for twice the
--   largest error at a compiled size, at least for 2 %, for more the farther
--   it is from the greatest compiled size, and for all that grows in other
--   memory spaces; upper_size leaves as much on the other side, and counts
--   values that a compiler for an accelerator may compute again where memory
--   is short only where they are made and last read. For both and for
--   largest_size, what other memory spaces hold beyond 128 MiB, the VMEM of a
--   TPU, counts here, but not in constant_bytes and the other terms. Sizes
--   that were compiled bound all three, and lower_size is at most twice the
--   greatest of them, and reserves at most twice as much: beyond, the compiler
--   may decide otherwise.
-- grain: subject, memory space, axis, other axes
-- steps: size_models, axis_names, sized_values, paired_values,
--   renamed_sizes, buffer_laws, growing_parts, compiled_errors,
--   bounded_sizes, size_terms
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
-- column subject BIGINT id neutral: Number of the subject in size_slices (with
--   the same parameters).
-- column color
-- column axis VARCHAR name neutral: Dimensions that change together.
-- column other_axes VARCHAR text neutral: Sizes of the other axes; NULL if
--   there are none.
-- column axis_name VARCHAR name neutral: The dimension of the largest of their
--   arguments, with its name where it is known, such as tokens[0].
-- column largest_size BIGINT count higher_is_better: Greatest size that fits
--   by the laws; NULL if memory does not grow.
-- column lower_size BIGINT count higher_is_better: Greatest size that fits
--   even if the laws are a little wrong; NULL if memory does not grow.
-- column upper_size BIGINT count higher_is_better: Greatest size that may fit;
--   NULL if memory does not grow.
-- column fitting_beyond BIGINT count neutral: Greatest compiled size that fits
--   though a smaller one does not; NULL without one.
-- column is_extrapolated BOOLEAN flag neutral: Whether largest_size, or what
--   it reserves, is more than twice that of the greatest compiled size; NULL
--   without largest_size.
-- column error_ratio DOUBLE ratio lower_is_better: Largest error of the laws
--   at a compiled size, as a share of what the greatest reserves.
-- column max_residual_bytes BIGINT bytes lower_is_better: The same error in
--   bytes.
-- column constant_bytes BIGINT bytes lower_is_better: Bytes that don't depend
--   on the size, of those reserved at largest_size or else at the greatest
--   compiled size.
-- column linear_bytes DOUBLE bytes lower_is_better: Those that grow with the
--   size, per unit of it.
-- column quadratic_bytes DOUBLE bytes lower_is_better: Those that grow with
--   its square or a higher power, per unit of the square.
-- column growing_part VARCHAR name neutral: Part of the memory that grows
--   most by the laws; NULL if none does.
-- column growing_bytes BIGINT bytes lower_is_better: Bytes by which that part
--   grows from the smallest compiled size.
SELECT
  m.subject, m.space_color AS color, m.axis, m.other_axes, n.axis_name,
  m.largest_size, m.lower_size, m.upper_size, m.fitting_beyond,
  m.largest_size > m.base_size
  AND (
    m.largest_size > 2 * m.base_size OR m.usable_bytes > 2 * m.base_bytes
  ) AS is_extrapolated,
  e.error_ratio,
  e.max_residual_bytes,
  CAST(round(t.constant_bytes) AS BIGINT) AS constant_bytes,
  round(t.linear_bytes, 3) AS linear_bytes,
  round(t.quadratic_bytes, 6) AS quadratic_bytes, t.growing_part,
  CAST(round(t.growing_bytes) AS BIGINT) AS growing_bytes
FROM bounded_sizes AS m
JOIN compiled_errors AS e USING (model)
LEFT JOIN axis_names AS n USING (model)
LEFT JOIN size_terms AS t USING (model)
