-- title: Allocations by size class
-- question: How many allocations are there of each size, and how much does
--   alignment waste?
-- definition: Allocations of every module per memory space, in classes of
--   powers of two: bucket_bytes is the largest power of two that is not above
--   the size (0 for empty allocations). rounding_bytes is the growth if every
--   size were rounded up to a multiple of align.
-- grain: run, program, module, memory space, size class
-- leading: program, space_name, bucket_bytes, allocation_count, count_ratio,
--   sum_bytes, rounding_bytes
-- split: programs
-- param run
-- param program
-- param color
-- param align BIGINT = 64 from 1 to 1073741824: Alignment in bytes to round
--   sizes up to.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column bucket_bytes BIGINT bytes neutral: Lower end of the size class.
-- column allocation_count BIGINT count lower_is_better: Number of allocations.
-- column count_ratio DOUBLE ratio neutral: Share of the allocations of the
--   memory space.
-- column sum_bytes BIGINT bytes lower_is_better: Sum of their sizes.
-- column bytes_ratio DOUBLE ratio neutral: Share of the bytes of the memory
--   space.
-- column rounding_bytes BIGINT bytes lower_is_better: Growth if sizes were
--   rounded up to the alignment.
WITH sized AS (
  SELECT
    module_id, allocations.color AS space_color, size_bytes,
    CASE
      WHEN size_bytes = 0 THEN 0
      ELSE CAST(1 AS BIGINT) << CAST(floor(log2(size_bytes)) AS INTEGER)
    END AS bucket_bytes,
    (size_bytes + $align - 1) // $align * $align - size_bytes AS rounding_bytes
  FROM allocations
),
buckets AS (
  SELECT
    module_id, space_color, bucket_bytes, count(*) AS allocation_count,
    sum(size_bytes) AS sum_bytes, sum(rounding_bytes) AS rounding_bytes
  FROM sized
  GROUP BY module_id, space_color, bucket_bytes
),
shares AS (
  SELECT
    *,
    sum(allocation_count) OVER same_space AS all_count,
    sum(sum_bytes) OVER same_space AS all_bytes
  FROM buckets
  WINDOW same_space AS (PARTITION BY module_id, space_color)
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  b.bucket_bytes, b.allocation_count,
  b.allocation_count / b.all_count AS count_ratio,
  CAST(b.sum_bytes AS BIGINT) AS sum_bytes,
  b.sum_bytes / nullif(b.all_bytes, 0) AS bytes_ratio,
  CAST(b.rounding_bytes AS BIGINT) AS rounding_bytes
FROM selected_memory() AS m
JOIN shares AS b
  ON b.module_id = m.module_id
  AND b.space_color = m.color
ORDER BY m.program, m.module_number, m.rank, m.color, b.bucket_bytes
