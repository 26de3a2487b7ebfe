-- title: Transfers between memory spaces
-- question: What moves between memory spaces, and does it move back?
-- definition: Data that is read in one memory space and written in another,
--   summed by pair of spaces: copy and copy-start (data_moves); slice and
--   dynamic-slice, of which the result counts; dynamic-update-slice, of which
--   the update counts. Slices count also if an async-start calls them, alone
--   or in a fusion, but not in other fusions, which may compute what they
--   write. moved_bytes counts each once, total_bytes multiplies by the known
--   trip counts of the loops around them. mean_window_steps is the mean number
--   of steps from start to done. A transfer is a round trip if its operand is
--   the result of a copy in the opposite direction, or if what it moves was
--   computed in the memory space that it is written to (array_origins), as a
--   slice of an array that a loop filled by slices; from the host's memory, if
--   it was computed in any other.
-- grain: module occurrence, pair of spaces
-- leading: program, from_space, to_space, copy_count, slice_count,
--   total_bytes, round_trip_count, round_trip_bytes
-- split: programs
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column from_color INTEGER id neutral: Memory space it is read from.
-- column from_space VARCHAR name neutral: Name of that memory space.
-- column to_color INTEGER id neutral: Memory space it is written to.
-- column to_space VARCHAR name neutral: Name of that memory space.
-- column copy_count BIGINT count lower_is_better: Copies.
-- column slice_count BIGINT count lower_is_better: Slices.
-- column moved_bytes BIGINT bytes lower_is_better: Their logical sizes.
-- column total_bytes BIGINT bytes lower_is_better: The same, times the trip
--   counts of their loops.
-- column times_known BOOLEAN flag neutral: Whether the trip counts of all
--   loops around it are known.
-- column mean_window_steps DOUBLE steps neutral: Steps from start to done on
--   average; NULL where all are synchronous.
-- column round_trip_count BIGINT count lower_is_better: Transfers that are
--   round trips.
-- column round_trip_bytes BIGINT bytes lower_is_better: Their logical sizes.
WITH there AS MATERIALIZED (
  -- Fixed: else all instructions meet their forms and one another.
  SELECT
    i.module_id, i.instruction_id, i.computation_id, f.opcode, f.color,
    f.logical_bytes
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
copies AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id, c.operand_id, c.logical_bytes, c.from_color,
    c.to_color
  FROM data_moves() AS c
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
  JOIN there AS i
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
slices AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.logical_bytes,
    CASE WHEN i.opcode = 'dynamic-update-slice' THEN 1 ELSE 0 END
      AS moved_operand
  FROM there AS i
  WHERE i.opcode IN ('slice', 'dynamic-slice', 'dynamic-update-slice')
),
sources AS MATERIALIZED (
  SELECT s.module_id, s.instruction_id, p.operand_id
  FROM slices AS s
  JOIN operands AS p
    ON p.module_id = s.module_id
    AND p.instruction_id = s.instruction_id
    AND p.operand_index = s.moved_operand
),
callers AS MATERIALIZED (
  SELECT
    c.module_id, c.computation_id, d.kind, d.root_instruction_id,
    c.instruction_id AS caller_id, i.computation_id AS caller_computation_id
  FROM (SELECT DISTINCT module_id FROM slices) AS m
  JOIN called_computations AS c USING (module_id)
  JOIN computations AS d USING (module_id, computation_id)
  JOIN there AS i
    ON i.module_id = c.module_id
    AND i.instruction_id = c.instruction_id
  WHERE d.kind IN ('async', 'fusion')
),
moving AS MATERIALIZED (
  -- mover_id: the slice, or the async-start that calls it; root_id: what holds
  -- the result, as the slice does or a copy of it in the same fusion;
  -- definer_id: what defines its value, the slice or the fusion.
  SELECT
    s.*, s.instruction_id AS mover_id, s.instruction_id AS root_id,
    s.instruction_id AS definer_id
  FROM slices AS s
  ANTI JOIN callers AS c USING (module_id, computation_id)
  UNION ALL
  SELECT s.*, c.caller_id, c.root_instruction_id, c.root_instruction_id
  FROM slices AS s
  JOIN callers AS c USING (module_id, computation_id)
  WHERE c.kind = 'async'
  UNION ALL
  SELECT s.*, a.caller_id, c.root_instruction_id, c.caller_id
  FROM slices AS s
  JOIN callers AS c USING (module_id, computation_id)
  JOIN callers AS a
    ON a.module_id = c.module_id
    AND a.computation_id = c.caller_computation_id
  WHERE c.kind = 'fusion'
    AND a.kind = 'async'
),
sliced AS (
  SELECT
    s.module_id, s.mover_id AS instruction_id, o.color AS from_color,
    r.color AS to_color,
    CASE WHEN s.moved_operand = 1 THEN o.logical_bytes ELSE s.logical_bytes END
      AS logical_bytes,
    FALSE AS is_back, TRUE AS is_slice, s.definer_id
  FROM moving AS s
  JOIN sources AS p USING (module_id, instruction_id)
  JOIN there AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  JOIN there AS r
    ON r.module_id = s.module_id
    AND r.instruction_id = s.root_id
  WHERE o.color <> r.color
),
made AS MATERIALIZED (
  SELECT DISTINCT o.module_id, o.instruction_id, i.color
  FROM array_origins() AS o
  JOIN there AS i
    ON i.module_id = o.module_id
    AND i.instruction_id = o.origin_id
  WHERE o.kind = 'computed'
),
moved AS (
  SELECT DISTINCT
    t.*, t.is_back OR d.module_id IS NOT NULL AS is_round_trip,
    coalesce(n.times, 1) AS times, coalesce(n.is_known, FALSE) AS is_known
  FROM (
    SELECT
      module_id, instruction_id, from_color, to_color, logical_bytes,
      is_round_trip AS is_back, FALSE AS is_slice,
      instruction_id AS definer_id
    FROM transfers
    UNION ALL BY NAME
    SELECT * FROM sliced
  ) AS t
  JOIN there AS i USING (module_id, instruction_id)
  LEFT JOIN made AS d
    ON d.module_id = t.module_id
    AND d.instruction_id = t.definer_id
    AND (
      d.color = t.to_color
      -- Of the host's memory, S(5), whatever device memory it comes from.
      OR (t.from_color = 5 AND d.color <> 5)
    )
  LEFT JOIN multiplicity() AS n
    ON n.module_id = i.module_id
    AND n.computation_id = i.computation_id
),
summed AS (
  SELECT
    t.module_id, t.from_color, t.to_color,
    count(*) FILTER (WHERE NOT t.is_slice) AS copy_count,
    count(*) FILTER (WHERE t.is_slice) AS slice_count,
    sum(t.logical_bytes) AS moved_bytes,
    sum(CAST(t.logical_bytes AS HUGEINT) * t.times) AS total_bytes,
    bool_and(t.is_known) AS times_known,
    avg(a.done_at_step - a.start_at_step) AS mean_window_steps,
    count(*) FILTER (WHERE t.is_round_trip) AS round_trip_count,
    coalesce(sum(t.logical_bytes) FILTER (WHERE t.is_round_trip), 0)
      AS round_trip_bytes
  FROM moved AS t
  LEFT JOIN async_pairs() AS a
    USING (module_id, instruction_id)
  GROUP BY t.module_id, t.from_color, t.to_color
)
SELECT
  m.run, m.program, m.module_number, m.rank, s.from_color,
  coalesce(f.space_name, 'color_' || s.from_color) AS from_space, s.to_color,
  coalesce(t.space_name, 'color_' || s.to_color) AS to_space, s.copy_count,
  s.slice_count, CAST(s.moved_bytes AS BIGINT) AS moved_bytes,
  CAST(s.total_bytes AS BIGINT) AS total_bytes, s.times_known,
  s.mean_window_steps,
  s.round_trip_count, CAST(s.round_trip_bytes AS BIGINT) AS round_trip_bytes
FROM final_modules() AS m
JOIN summed AS s USING (module_id)
LEFT JOIN memory_spaces AS f
  ON f.platform = m.platform
  AND f.color = s.from_color
LEFT JOIN memory_spaces AS t
  ON t.platform = m.platform
  AND t.color = s.to_color
ORDER BY
  total_bytes DESC, m.program, m.module_number, m.rank, s.from_color,
  s.to_color
