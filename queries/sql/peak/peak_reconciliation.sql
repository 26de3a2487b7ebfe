-- title: Competing peak figures
-- question: How do the memory figures of hlodb, XLA and JAX for one program
--   differ, and what does each one mean?
-- definition: Per module, one row per figure. Figures of one memory space have
--   a color. Figures over all memory spaces have none; they are compared with
--   the sum of the live peaks of all spaces, which no single memory needs.
--   arguments_outputs_temps is the sum that JAX users form: parameters plus
--   live-outs plus temporaries minus parameters that are also live-out.
--   printed_live_range_peak is XLA's listing at its own peak. temp and
--   memory_analysis_temp are compared with the most temporary bytes live at
--   one step. On TPU, the second is about HBM only and what libtpu needs in
--   the end: the assignment's tables of tuples and scalars, 512 bytes each,
--   are gone, and what its code generator needs is added. It is 0 for most
--   small programs, whose temporaries all fit into VMEM.
-- grain: module occurrence, definition, memory space
-- leading: program, space_name, definition, bytes, delta_bytes, reason
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column definition VARCHAR name neutral: Name of the figure.
-- column color INTEGER id neutral: Memory space number; NULL for figures over
--   all memory spaces.
-- column space_name
-- column bytes BIGINT bytes lower_is_better: The figure.
-- column delta_bytes BIGINT bytes neutral: Figure minus live peak, that of
--   temporaries for temp and memory_analysis_temp.
-- column reason VARCHAR text neutral: Reason for the difference.
WITH memory AS (
  SELECT m.*
  FROM module_memory AS m
  JOIN selected_run() AS c USING (run_id)
  WHERE $program IS NULL
    OR m.program = $program
),
whole AS (
  SELECT
    m.run_id, m.path, m.part, m.module_id, m.module_number, m.rank,
    m.run AS run_name, m.program AS program_name,
    max(m.printed_total_bytes) AS printed_total_bytes,
    sum(m.live_peak_bytes) AS live_bytes,
    sum(m.temp_live_peak_bytes) FILTER (
      WHERE m.platform IS DISTINCT FROM 'tpu'
        OR m.color = 0
    ) AS live_temp_bytes
  FROM memory AS m
  GROUP BY ALL
),
arguments AS (
  SELECT
    module_id,
    coalesce(sum(size_bytes) FILTER (WHERE parameter_number IS NOT NULL), 0)
      + coalesce(sum(size_bytes) FILTER (WHERE is_live_out), 0)
      + coalesce(sum(size_bytes) FILTER (WHERE kind = 'temp'), 0)
      - coalesce(sum(size_bytes) FILTER (
        WHERE parameter_number IS NOT NULL AND is_live_out
      ), 0) AS bytes
  FROM allocations
  GROUP BY module_id
),
printed AS (
  SELECT
    module_id, sum(printed_bytes) AS bytes,
    max(printed_peaks.peak_step) AS step
  FROM printed_peaks
  GROUP BY module_id
),
captured AS (
  SELECT
    w.path, w.part,
    a.argument_bytes + a.output_bytes + a.temp_bytes - a.alias_bytes
      AS sum_bytes,
    a.peak_bytes, a.temp_bytes
  FROM whole AS w
  JOIN modules AS m
    ON m.run_id = w.run_id
    AND m.path = w.path
    AND m.part = w.part
  JOIN memory_analysis AS a
    ON a.run_id = m.run_id
    AND a.module_name = m.name
    AND starts_with(m.path, regexp_replace(a.path, '[^/]*$', ''))
  -- What several are called says nothing of one, nor do two that speak of one.
  QUALIFY count(*) OVER (PARTITION BY w.path, w.part) = 1
    AND count(*) OVER (PARTITION BY a.path, a.module_name) = 1
),
numbers AS (
  SELECT
    w.path, w.part, 1 AS place,
    'printed_total' AS definition, NULL AS space_color, NULL AS space_name,
    w.printed_total_bytes AS bytes, w.live_bytes,
    'adds all memory spaces, fragmentation and thread-local allocations'
      AS reason
  FROM whole AS w
  UNION ALL
  SELECT
    m.path, m.part, 2, 'reserved', m.color,
    m.space_name, m.reserved_bytes, m.live_peak_bytes,
    'includes fragmentation and thread-local allocations'
  FROM memory AS m
  UNION ALL
  SELECT
    m.path, m.part, 3, 'live_peak', m.color,
    m.space_name, m.live_peak_bytes, m.live_peak_bytes,
    'the peak: most bytes of the space live at one step'
  FROM memory AS m
  UNION ALL
  SELECT
    w.path, w.part, 4,
    'arguments_outputs_temps',
    NULL, NULL, a.bytes, w.live_bytes,
    'adds all memory spaces and fragmentation; without constants'
  FROM whole AS w
  JOIN arguments AS a USING (module_id)
  UNION ALL
  SELECT
    w.path, w.part, 5,
    'printed_live_range_peak',
    NULL, NULL, p.bytes, w.live_bytes,
    'listed at step ' || p.step || ': adds all memory spaces, unpadded sizes,'
      || ' older releases count a tuple element as its pointer table'
  FROM whole AS w
  JOIN printed AS p USING (module_id)
  UNION ALL
  SELECT
    w.path, w.part, 6, 'memory_analysis_sum',
    NULL, NULL, c.sum_bytes, w.live_bytes,
    'JAX: arguments, outputs and temporaries minus aliases, on the device'
  FROM whole AS w
  JOIN captured AS c USING (path, part)
  UNION ALL
  SELECT
    w.path, w.part, 7, 'memory_analysis_peak',
    NULL, NULL, c.peak_bytes, w.live_bytes,
    'JAX: peak_memory_in_bytes, mixes memory spaces and heap simulations'
  FROM whole AS w
  JOIN captured AS c USING (path, part)
  UNION ALL
  SELECT
    m.path, m.part, 8, 'temp', m.color,
    m.space_name, m.temp_bytes, m.temp_live_peak_bytes,
    'temporaries of the assignment, includes fragmentation'
  FROM memory AS m
  WHERE EXISTS (
    SELECT 1
    FROM captured AS c
    WHERE c.path = m.path
      AND c.part = m.part
  )
  UNION ALL
  SELECT
    w.path, w.part, 9, 'memory_analysis_temp',
    NULL, NULL, c.temp_bytes, w.live_temp_bytes,
    'JAX: temp_size_in_bytes; on TPU without tables of tuples and scalars,'
      || ' with what the code generator adds'
  FROM whole AS w
  JOIN captured AS c USING (path, part)
)
SELECT
  w.run_name AS run, w.program_name AS program, w.module_number, w.rank,
  n.definition, n.space_color AS color, n.space_name,
  CAST(n.bytes AS BIGINT) AS bytes,
  CAST(n.bytes - n.live_bytes AS BIGINT) AS delta_bytes, n.reason
FROM numbers AS n
JOIN whole AS w USING (path, part)
WHERE n.bytes IS NOT NULL
ORDER BY w.program_name, w.module_number, w.rank, w.path, w.part, n.place,
  n.space_color
