-- title: Live memory over the schedule
-- question: How does memory use change over the schedule?
-- definition: memory_timeline: stretches of the schedule with constant live
--   bytes, by the rules of peak_by_space; neighbours that differ only in
--   temp_live_bytes are one stretch. If points > 0, the schedule is cut
--   into that many equal parts, and each keeps only its stretch with the most
--   live bytes (the first among equals); so the peak is always kept.
-- grain: module occurrence, memory space, stretch of steps
-- leading: program, space_name, from_step, to_step, live_bytes,
--   temp_live_bytes, delta_bytes, instruction
-- split: programs
-- param run
-- param program
-- param color
-- param points BIGINT = 0 from 0 to 1000000000: Keep at most this many
--   stretches per module and memory space; 0 for all.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column from_step INTEGER step neutral: First step of the stretch.
-- column to_step INTEGER step neutral: Last step of the stretch.
-- column live_bytes BIGINT bytes lower_is_better: Live bytes of the memory
--   space.
-- column temp_live_bytes BIGINT bytes lower_is_better: Live bytes of temporary
--   allocations, the most in the stretch.
-- column delta_bytes BIGINT bytes neutral: Change from the stretch before.
-- column instruction VARCHAR name neutral: Instruction scheduled at from_step.
-- column opcode
-- column path
WITH levels AS (
  SELECT
    m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
    m.occurrence, m.path, m.module_id, t.from_step, t.to_step, t.live_bytes,
    t.temp_live_bytes,
    t.live_bytes
      IS DISTINCT FROM lag(t.live_bytes) OVER same_curve AS is_change
  FROM selected_memory() AS m
  JOIN memory_timeline AS t USING (module_id, color)
  WINDOW same_curve AS (
    PARTITION BY m.occurrence, m.color ORDER BY t.from_step
  )
),
numbered AS (
  SELECT
    *,
    count(*) FILTER (WHERE is_change) OVER (
      PARTITION BY l.occurrence, l.color ORDER BY l.from_step
    ) AS stretch
  FROM levels AS l
),
merged AS (
  SELECT
    n.run, n.program, n.module_number, n.rank, n.color, n.space_name,
    n.occurrence, n.path, n.module_id, n.stretch,
    min(n.from_step) AS from_step, max(n.to_step) AS to_step, n.live_bytes,
    max(n.temp_live_bytes) AS temp_live_bytes
  FROM numbered AS n
  GROUP BY ALL
),
stretches AS (
  SELECT
    *,
    m.live_bytes - lag(m.live_bytes, 1, 0) OVER (
      PARTITION BY m.occurrence, m.color ORDER BY m.stretch
    ) AS delta_bytes,
    max(m.to_step) OVER (PARTITION BY m.occurrence, m.color) + 1 AS step_count
  FROM merged AS m
),
ranked AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY
        s.occurrence, s.color,
        CASE
          WHEN $points > 0
            THEN CAST(s.from_step AS HUGEINT) * $points // s.step_count
          ELSE s.from_step
        END
      ORDER BY s.live_bytes DESC, s.from_step
    ) AS place
  FROM stretches AS s
)
SELECT
  r.run, r.program, r.module_number, r.rank, r.color, r.space_name,
  r.from_step, r.to_step, r.live_bytes, r.temp_live_bytes,
  CAST(r.delta_bytes AS BIGINT) AS delta_bytes,
  i.name AS instruction, i.opcode, r.path
FROM ranked AS r
LEFT JOIN store.schedule AS s
  ON s.module_id = r.module_id
  AND s.step = r.from_step
LEFT JOIN instructions AS i
  ON i.module_id = s.module_id
  AND i.instruction_id = s.instruction_id
WHERE r.place = 1
ORDER BY r.program, r.module_number, r.rank, r.occurrence, r.color, r.from_step
