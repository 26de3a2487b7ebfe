-- title: Cost of several arenas
-- question: How much memory does it cost that the temporary values of a memory
--   space lie in several arenas?
-- definition: Per memory space: sum_bytes is the size of all temporary
--   allocations (arenas), sum_of_peaks_bytes the sum of the live peak of each,
--   joint_peak_bytes the most bytes live in all of them at one step.
--   split_bytes is the saving if one arena replaced several, both without
--   fragmentation.
-- grain: module occurrence, memory space
-- leading: program, space_name, arena_count, sum_bytes, joint_peak_bytes,
--   split_bytes, waste_bytes
-- split: programs
-- param run
-- param program
-- param color
-- param min_arenas BIGINT = 1 from 0: Only memory spaces with at least this
--   many arenas.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column arena_count BIGINT count neutral: Temporary allocations.
-- column sum_bytes BIGINT bytes lower_is_better: Size of all temporary
--   allocations.
-- column sum_of_peaks_bytes BIGINT bytes lower_is_better: Sum of the live
--   peaks of the arenas.
-- column joint_peak_bytes BIGINT bytes lower_is_better: Most bytes live in all
--   arenas at one step.
-- column split_bytes BIGINT bytes lower_is_better: sum_of_peaks_bytes minus
--   joint_peak_bytes.
-- column waste_bytes BIGINT bytes lower_is_better: sum_bytes minus
--   joint_peak_bytes.
WITH arenas AS (
  SELECT
    a.module_id, a.color AS space_color, count(*) AS arena_count,
    sum(a.size_bytes) AS sum_bytes,
    sum(p.live_peak_bytes) AS sum_of_peaks_bytes
  FROM allocations AS a
  LEFT JOIN (
    SELECT module_id, allocation_id, max(live_bytes) AS live_peak_bytes
    FROM arena_timeline()
    GROUP BY module_id, allocation_id
  ) AS p USING (module_id, allocation_id)
  WHERE a.kind = 'temp'
  GROUP BY a.module_id, a.color
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  a.arena_count,
  CAST(a.sum_bytes AS BIGINT) AS sum_bytes,
  CAST(coalesce(a.sum_of_peaks_bytes, 0) AS BIGINT) AS sum_of_peaks_bytes,
  m.temp_live_peak_bytes AS joint_peak_bytes,
  CAST(coalesce(a.sum_of_peaks_bytes, 0) - m.temp_live_peak_bytes AS BIGINT)
    AS split_bytes,
  CAST(a.sum_bytes - m.temp_live_peak_bytes AS BIGINT) AS waste_bytes
FROM module_memory AS m
JOIN selected_run() AS c USING (run_id)
JOIN arenas AS a
  ON a.module_id = m.module_id
  AND a.space_color = m.color
WHERE m.temp_live_peak_bytes IS NOT NULL
  AND a.arena_count >= $min_arenas
  AND ($program IS NULL OR m.program = $program)
  AND ($color IS NULL OR m.color = $color)
ORDER BY
  split_bytes DESC, waste_bytes DESC, m.program, m.module_number, m.rank,
  m.color
