-- title: Peak memory that donations would save
-- question: How far would the peak fall if an input were donated?
-- definition: For every pair of missed_donations: the fall of the live
--   peak if the output lay in the parameter's allocation and needed none of
--   its own; reserved memory falls by output_bytes. is_possible: no copy is
--   needed, because the parameter is last read no later than the output's
--   allocation is first in use. It is unknown (NULL) if the parameter is read
--   later in the present schedule: the compiler orders a program with the
--   donation anew, and copies what it still needs, so that compiling it tells
--   how much is saved. saved_at_peak_bytes is exact for one pair at a time.
-- grain: module occurrence, pair
-- leading: program, parameter_number, op_name, saved_at_peak_bytes,
--   is_possible, output_index, output_bytes, shape
-- split: programs
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column parameter_index VARCHAR name neutral: Index into that parameter.
-- column op_name VARCHAR name neutral: Framework path of the parameter: the
--   argument, such as params[2], in dumps of JAX since 2024.
-- column output_index VARCHAR name neutral: Index into the result.
-- column shape VARCHAR text neutral: Shape of the parameter.
-- column output_bytes BIGINT bytes neutral: Size of the output's allocation.
-- column last_use_step INTEGER step neutral: Last step at which the parameter
--   is read.
-- column output_step INTEGER step neutral: First step at which the output's
--   allocation is in use.
-- column is_possible BOOLEAN flag neutral: True if it needs no copy; NULL if
--   that depends on the order that the compiler chooses.
-- column live_peak_bytes
-- column saved_at_peak_bytes BIGINT bytes higher_is_better: Fall of the live
--   peak.
-- column source_file
-- column source_line
WITH tenants AS (
  SELECT * FROM value_places()
),
pairs AS MATERIALIZED (
  SELECT
    d.*, d.color AS space_color, u.last_use_step
  FROM missed_donations() AS d
  LEFT JOIN argument_last_uses() AS u
    ON u.module_id = d.module_id
    AND u.allocation_id = d.parameter_id
),
held AS (
  SELECT
    p.module_id, p.output_id, t.start_step, t.end_step
  FROM (SELECT DISTINCT module_id, output_id FROM pairs) AS p
  JOIN tenants AS t
    ON t.module_id = p.module_id
    AND t.allocation_id = p.output_id
  WHERE t.start_step IS NOT NULL
),
events AS (
  SELECT h.module_id, h.output_id, h.start_step AS step, 1 AS change,
    CAST(NULL AS BIGINT) AS live_bytes
  FROM held AS h
  UNION ALL
  SELECT h.module_id, h.output_id, h.end_step + 1, -1, NULL FROM held AS h
  UNION ALL
  SELECT p.module_id, p.output_id, t.from_step, 0, t.live_bytes
  FROM (SELECT DISTINCT module_id, output_id, space_color FROM pairs) AS p
  JOIN memory_timeline AS t
    ON t.module_id = p.module_id
    AND t.color = p.space_color
),
levels AS (
  SELECT
    module_id, output_id, step,
    sum(sum(change)) OVER same_output > 0 AS is_held,
    last_value(max(live_bytes) IGNORE NULLS) OVER same_output AS live_bytes
  FROM events
  GROUP BY module_id, output_id, step
  WINDOW same_output AS (PARTITION BY module_id, output_id ORDER BY step)
),
starts AS (
  SELECT module_id, output_id, min(start_step) AS output_step
  FROM held
  GROUP BY module_id, output_id
),
ends AS (
  SELECT module_id, t.color AS space_color, max(to_step) AS last_step
  FROM memory_timeline AS t
  GROUP BY module_id, t.color
),
lowered AS (
  SELECT
    p.module_id, p.output_id,
    max(
      l.live_bytes - CASE WHEN l.is_held THEN p.size_bytes ELSE 0 END
    ) AS new_peak_bytes
  FROM (
    SELECT DISTINCT module_id, output_id, space_color, size_bytes FROM pairs
  ) AS p
  JOIN ends AS e USING (module_id, space_color)
  JOIN levels AS l USING (module_id, output_id)
  WHERE l.step <= e.last_step
  GROUP BY p.module_id, p.output_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, p.space_color AS color,
  m.space_name, p.parameter_number, p.parameter_index, n.op_name,
  p.output_index, p.shape, p.size_bytes AS output_bytes, p.last_use_step,
  f.output_step,
  CASE
    WHEN coalesce(p.last_use_step, -1) <= f.output_step THEN TRUE
  END AS is_possible,
  m.live_peak_bytes,
  m.live_peak_bytes - l.new_peak_bytes AS saved_at_peak_bytes,
  s.source_file, s.source_line
FROM pairs AS p
JOIN lowered AS l USING (module_id, output_id)
LEFT JOIN starts AS f USING (module_id, output_id)
JOIN selected_memory() AS m
  ON m.module_id = p.module_id
  AND m.color = p.space_color
LEFT JOIN entry_parameters() AS n
  ON n.module_id = p.module_id
  AND n.parameter_number = p.parameter_number
LEFT JOIN instruction_sources() AS s
  ON s.module_id = m.module_id
  AND s.locations_id = m.locations_id
  AND s.instruction_id = n.instruction_id
ORDER BY
  saved_at_peak_bytes DESC, p.size_bytes DESC, m.program, m.module_number,
  m.rank, p.parameter_number, p.parameter_index, p.output_index
