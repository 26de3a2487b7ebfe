-- title: Peak memory by stack frame
-- question: How many bytes of the peak belong to each Python frame, alone and
--   with everything that it calls?
-- definition: owned_bytes of peak_values along the stack of the defining
--   instruction, from the innermost frame outwards. total_bytes counts a value
--   once per frame, also under recursion; self_bytes only in its innermost
--   frame. Releases that print no stack frames give no rows.
-- grain: module occurrence, memory space, frame (file, line, function)
-- leading: program, space_name, function_name, file_name, line, self_bytes,
--   total_bytes, peak_ratio
-- split: programs
-- param run
-- param program
-- param color
-- param top BIGINT = NULL from 0: At most this many frames per module and
--   memory space; NULL for all, or for 20 where hlodb query prints a table.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column file_name VARCHAR name neutral: File of the frame.
-- column line INTEGER id neutral: Line in that file.
-- column function_name VARCHAR name neutral: Function of the frame.
-- column self_bytes BIGINT bytes lower_is_better: Bytes with this frame as the
--   innermost.
-- column total_bytes BIGINT bytes lower_is_better: Bytes with this frame
--   anywhere in the stack.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
WITH RECURSIVE owned AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, m.occurrence, m.locations_id,
    m.live_peak_bytes, v.allocation_id, v.value_id, v.owned_bytes,
    l.stack_frame_id
  FROM selected_memory() AS m
  JOIN peak_values() AS v
    USING (module_id, color)
  JOIN locations AS l
    ON l.locations_id = m.locations_id
    AND l.instruction_id = v.instruction_id
  WHERE v.owned_bytes > 0
    AND l.stack_frame_id IS NOT NULL
),
stacks AS (
  SELECT
    f.locations_id, f.stack_frame_id AS start_id, f.stack_frame_id,
    f.parent_id, 0 AS depth
  FROM stack_frames AS f
  JOIN (
    SELECT DISTINCT locations_id, stack_frame_id FROM owned
  ) AS o USING (locations_id, stack_frame_id)
  UNION ALL
  SELECT s.locations_id, s.start_id, p.stack_frame_id, p.parent_id, s.depth + 1
  FROM stacks AS s
  JOIN stack_frames AS p
    ON p.locations_id = s.locations_id
    AND p.stack_frame_id = s.parent_id
  WHERE s.depth < 1000
),
places AS (
  SELECT
    s.locations_id, s.start_id, f.file_name, f.line, f.function_name,
    min(s.depth) AS depth
  FROM stacks AS s
  JOIN stack_frames AS f
    ON f.locations_id = s.locations_id
    AND f.stack_frame_id = s.stack_frame_id
  GROUP BY ALL
),
summed AS (
  SELECT
    o.run_name, o.program_name, o.module_number, o.rank, o.space_color,
    o.space_name, o.occurrence, o.live_peak_bytes, p.file_name, p.line,
    p.function_name,
    coalesce(sum(o.owned_bytes) FILTER (WHERE p.depth = 0), 0) AS self_bytes,
    sum(o.owned_bytes) AS total_bytes
  FROM owned AS o
  JOIN places AS p
    ON p.locations_id = o.locations_id
    AND p.start_id = o.stack_frame_id
  GROUP BY ALL
),
ranked AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY occurrence, space_color
      ORDER BY total_bytes DESC, self_bytes DESC, file_name, line,
        function_name
    ) AS place
  FROM summed
)
SELECT
  r.run_name AS run, r.program_name AS program, r.module_number, r.rank,
  r.space_color AS color, r.space_name, r.file_name, r.line, r.function_name,
  CAST(r.self_bytes AS BIGINT) AS self_bytes,
  CAST(r.total_bytes AS BIGINT) AS total_bytes,
  r.total_bytes / nullif(r.live_peak_bytes, 0) AS peak_ratio
FROM ranked AS r
WHERE $top IS NULL
  OR r.place <= $top
ORDER BY
  r.live_peak_bytes DESC, r.program_name, r.module_number, r.rank,
  r.occurrence, r.space_color, r.place
