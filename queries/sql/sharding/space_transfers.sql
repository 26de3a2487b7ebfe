-- title: Transfers between memory spaces
-- question: What moves between memory spaces, and does it come back?
-- definition: copy and copy-start instructions whose operand and result lie in
--   different memory spaces (data_moves), summed by pair of spaces.
--   mean_window_steps is the mean distance from start to done. A transfer is a
--   round trip where its operand is itself the result of a transfer in the
--   opposite direction.
-- grain: module occurrence, pair of spaces
-- needs: final_modules, data_moves, instructions, operands, async_pairs,
--   memory_spaces
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column from_color INTEGER id neutral: Memory space it is read from.
-- column from_space VARCHAR name neutral: Its name.
-- column to_color INTEGER id neutral: Memory space it is written to.
-- column to_space VARCHAR name neutral: Its name.
-- column copy_count BIGINT count lower_is_better: Copies.
-- column moved_bytes BIGINT bytes lower_is_better: Their logical sizes.
-- column mean_window_steps DOUBLE steps neutral: Steps from start to done on
--   average; NULL where all are synchronous.
-- column round_trip_count BIGINT count lower_is_better: Those that come back.
-- column round_trip_bytes BIGINT bytes lower_is_better: Their logical sizes.
WITH copies AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id, c.operand_id, c.logical_bytes, c.from_color,
    c.to_color
  FROM data_moves(run := $run, program := $program) AS c
  WHERE c.opcode IN ('copy', 'copy-start')
),
results AS MATERIALIZED (
  SELECT c.module_id, c.instruction_id, c.instruction_id AS result_id
  FROM copies AS c
  UNION ALL
  SELECT c.module_id, c.instruction_id, d.instruction_id
  FROM copies AS c
  JOIN operands AS d
    ON d.module_id = c.module_id
    AND d.operand_id = c.instruction_id
  JOIN instructions AS i
    ON i.module_id = d.module_id
    AND i.instruction_id = d.instruction_id
    AND i.opcode = 'copy-done'
),
transfers AS (
  SELECT
    c.module_id, c.instruction_id, c.from_color, c.to_color,
    c.logical_bytes,
    bool_or(coalesce(
      b.from_color = c.to_color AND b.to_color = c.from_color, FALSE
    )) AS is_round_trip
  FROM copies AS c
  LEFT JOIN results AS r
    ON r.module_id = c.module_id
    AND r.result_id = c.operand_id
  LEFT JOIN copies AS b
    ON b.module_id = r.module_id
    AND b.instruction_id = r.instruction_id
  WHERE c.from_color <> c.to_color
  GROUP BY ALL
),
summed AS (
  SELECT
    t.module_id, t.from_color, t.to_color, count(*) AS copy_count,
    sum(t.logical_bytes) AS moved_bytes,
    avg(a.done_at_step - a.start_at_step) AS mean_window_steps,
    count(*) FILTER (WHERE t.is_round_trip) AS round_trip_count,
    coalesce(sum(t.logical_bytes) FILTER (WHERE t.is_round_trip), 0)
      AS round_trip_bytes
  FROM transfers AS t
  LEFT JOIN async_pairs(run := $run, program := $program) AS a
    USING (module_id, instruction_id)
  GROUP BY t.module_id, t.from_color, t.to_color
)
SELECT
  m.run, m.program, m.module_number, m.rank, s.from_color,
  coalesce(f.space_name, 'color_' || s.from_color) AS from_space, s.to_color,
  coalesce(t.space_name, 'color_' || s.to_color) AS to_space, s.copy_count,
  CAST(s.moved_bytes AS BIGINT) AS moved_bytes, s.mean_window_steps,
  s.round_trip_count, CAST(s.round_trip_bytes AS BIGINT) AS round_trip_bytes
FROM final_modules(run := $run, program := $program) AS m
JOIN summed AS s USING (module_id)
LEFT JOIN memory_spaces AS f
  ON f.platform = m.platform
  AND f.color = s.from_color
LEFT JOIN memory_spaces AS t
  ON t.platform = m.platform
  AND t.color = s.to_color
ORDER BY
  moved_bytes DESC, m.program, m.module_number, m.rank, s.from_color,
  s.to_color
