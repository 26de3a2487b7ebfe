-- title: Memory saved by rematerialisation
-- question: How much memory does each recomputed value save, and is it worth
--   the work?
-- definition: Instructions that XLA's rematerialisation cloned (.remat in the
--   name) and that have a live range; clones inside fusions have none, and
--   compressed copies recompute nothing. Their arrays are compared with those
--   of the instruction before them, by shape_index and shape: the original
--   (the name up to .remat) or an earlier clone of it. Without the clone, that
--   instruction's values would be kept from their end to the clone's start;
--   and temporary values that end where the clone reads them would be free
--   since their last read before it, or since their own start. Both ends are
--   excluded: there, and while the clone is live, memory stays as it is.
--   kept_peak_bytes is the live peak in that case; it can be below the real
--   one. all_kept_peak_bytes is the same without any clone of the module: only
--   values that instructions other than clones read are kept. NULL if no
--   instruction with the original's name is left, because it was moved or
--   fused.
-- grain: module occurrence, clone, memory space
-- leading: program, space_name, instruction, original, size_bytes, gap_steps,
--   saved_at_peak_bytes, saved_ratio
-- param run
-- param program
-- param color
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction
-- column opcode
-- column original VARCHAR name neutral: Instruction that it recomputes.
-- column kept_from VARCHAR name neutral: Instruction before the clone whose
--   result would be kept instead.
-- column size_bytes
-- column gap_steps BIGINT steps higher_is_better: Steps between the end of
--   that result and the clone, the longest of its arrays.
-- column not_held_byte_steps BIGINT byte_steps higher_is_better: Sizes of its
--   arrays times these steps.
-- column held_byte_steps BIGINT byte_steps lower_is_better: The same for
--   values that are kept for the clone to read.
-- column saved_at_peak_bytes BIGINT bytes higher_is_better: kept_peak_bytes
--   minus live_peak_bytes.
-- column live_peak_bytes
-- column kept_peak_bytes BIGINT bytes neutral: Live peak without this clone.
-- column kept_peak_step INTEGER step neutral: First step of that peak.
-- column all_kept_peak_bytes BIGINT bytes neutral: Live peak without any
--   clone.
-- column flop BIGINT flop lower_is_better: Its work in dots and convolutions.
-- column moved_bytes BIGINT bytes lower_is_better: Logical sizes of its
--   operands and results.
-- column saved_ratio DOUBLE ratio higher_is_better: saved_at_peak_bytes as a
--   share of moved_bytes.
-- column op_name
WITH named AS MATERIALIZED (
  -- Fixed, lest the patterns are matched with the names of all runs.
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.name, f.opcode,
    f.op_name, coalesce(t.array_bytes, f.logical_bytes) AS result_bytes,
    i.schedule_step,
    regexp_replace(i.name, '\.remat.*$', '') AS original,
    contains(i.name, '.remat') AND NOT contains(i.name, '.remat_')
      AND f.opcode NOT IN (
        'parameter', 'constant', 'tuple', 'get-tuple-element'
      ) AS is_clone
  FROM (
    SELECT DISTINCT module_id
    FROM selected_memory()
  ) AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN tuple_sizes() AS t USING (shape)
),
clones AS MATERIALIZED (
  SELECT * FROM named WHERE is_clone
),
places AS MATERIALIZED (
  SELECT
    *,
    regexp_replace(shape, '\{.*$', '') AS dimensions
  FROM value_places()
  SEMI JOIN clones AS c USING (module_id)
  WHERE start_step IS NOT NULL
    AND shape NOT LIKE '(%'
    AND kind <> 'thread_local'
),
reads AS MATERIALIZED (
  -- A read that is not scheduled is one to the end.
  SELECT
    v.module_id, v.value_id, u.instruction_id AS reader_id,
    coalesce(i.schedule_step, v.end_step) AS step,
    i.is_clone AS is_by_clone
  FROM places AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN named AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
),
instances AS (
  SELECT
    v.*, n.computation_id, n.original, n.name, n.is_clone,
    n.is_clone AND coalesce(r.is_by_clones, FALSE) AS is_unneeded
  FROM places AS v
  JOIN named AS n USING (module_id, instruction_id)
  LEFT JOIN (
    SELECT module_id, value_id, bool_and(is_by_clone) AS is_by_clones
    FROM reads
    GROUP BY module_id, value_id
  ) AS r USING (module_id, value_id)
  SEMI JOIN clones AS c
    ON c.module_id = n.module_id
    AND c.computation_id = n.computation_id
    AND c.original = n.original
  WHERE n.is_clone
    OR n.name = n.original
),
-- Cases: without one clone, by its number, and without any, NULL.
cases AS (
  SELECT *, FALSE AS is_of_all FROM instances
  UNION ALL
  SELECT *, TRUE FROM instances WHERE NOT is_unneeded
),
followed AS (
  SELECT
    *,
    CASE WHEN NOT is_of_all THEN instruction_id END AS clone_id,
    lag(value_id) OVER (
      PARTITION BY
        module_id, computation_id, original, shape_index, dimensions, is_of_all
      ORDER BY start_step, value_id
    ) AS kept_id
  FROM cases
),
kept AS MATERIALIZED (
  SELECT
    c.module_id, c.clone_id, k.color AS space_color, k.value_id, k.name,
    k.size_bytes, k.end_step AS after_step,
    greatest(c.start_step, k.end_step + 1) AS before_step
  FROM followed AS c
  JOIN instances AS k
    ON k.module_id = c.module_id
    AND k.value_id = c.kept_id
  WHERE c.is_clone
),
asked AS (
  SELECT module_id, clone_id, space_color
  FROM kept
  WHERE clone_id IS NOT NULL
  UNION
  SELECT i.module_id, NULL, i.color FROM instances AS i
),
released AS MATERIALIZED (
  SELECT
    r.module_id, r.clone_id, v.color AS space_color, v.size_bytes,
    greatest(v.start_step, coalesce(max(r.step) FILTER (
      WHERE NOT r.is_left_out
    ), 0)) AS after_step,
    v.end_step AS before_step
  FROM (
    SELECT
      c.module_id, c.clone_id, r.value_id, r.step,
      coalesce(r.reader_id = c.clone_id, r.is_by_clone) AS is_left_out
    FROM (SELECT DISTINCT module_id, clone_id FROM asked) AS c
    JOIN reads AS r USING (module_id)
  ) AS r
  JOIN places AS v USING (module_id, value_id)
  ANTI JOIN kept AS k
    ON k.module_id = r.module_id
    AND k.clone_id IS NOT DISTINCT FROM r.clone_id
    AND k.value_id = r.value_id
  WHERE v.kind = 'temp'
  GROUP BY
    r.module_id, r.clone_id, v.color, v.value_id, v.size_bytes, v.start_step,
    v.end_step
  HAVING max(r.step) FILTER (WHERE r.is_left_out) = v.end_step
    AND coalesce(max(r.step) FILTER (WHERE NOT r.is_left_out), v.start_step)
      < v.end_step
),
changes AS (
  SELECT
    module_id, clone_id, space_color, after_step + 1 AS step,
    size_bytes AS change
  FROM kept
  UNION ALL
  SELECT module_id, clone_id, space_color, before_step, -size_bytes FROM kept
  UNION ALL
  SELECT module_id, clone_id, space_color, after_step + 1, -size_bytes
  FROM released
  UNION ALL
  SELECT module_id, clone_id, space_color, before_step, size_bytes
  FROM released
  UNION ALL
  SELECT module_id, clone_id, space_color, 0, 0 FROM asked
),
differences AS (
  SELECT
    module_id, clone_id, space_color, step AS from_step,
    coalesce(lead(step) OVER steps - 1, 2147483647) AS to_step,
    sum(sum(change)) OVER steps AS change
  FROM changes
  GROUP BY module_id, clone_id, space_color, step
  WINDOW steps AS (
    PARTITION BY module_id, clone_id, space_color ORDER BY step
  )
),
peaks AS MATERIALIZED (
  SELECT
    d.module_id, d.clone_id, d.space_color,
    max(t.live_bytes + d.change) AS peak_bytes,
    arg_max(
      greatest(t.from_step, d.from_step),
      (t.live_bytes + d.change, -greatest(t.from_step, d.from_step))
    ) AS peak_step
  FROM differences AS d
  JOIN memory_timeline AS t
    ON t.module_id = d.module_id
    AND t.color = d.space_color
    AND t.from_step <= d.to_step
    AND t.to_step >= d.from_step
  GROUP BY d.module_id, d.clone_id, d.space_color
),
-- Of each clone: what would be kept, else its own arrays.
rows AS (
  SELECT
    module_id, clone_id, space_color, sum(size_bytes) AS size_bytes,
    min(name) AS kept_from, max(before_step - after_step - 1) AS gap_steps,
    sum(CAST(size_bytes AS HUGEINT) * (before_step - after_step - 1))
      AS not_held
  FROM kept
  WHERE clone_id IS NOT NULL
  GROUP BY module_id, clone_id, space_color
  UNION ALL
  SELECT
    c.module_id, c.instruction_id, c.color, sum(c.size_bytes), NULL, NULL, NULL
  FROM instances AS c
  ANTI JOIN kept AS k
    ON k.module_id = c.module_id
    AND k.clone_id = c.instruction_id
  WHERE c.is_clone
  GROUP BY c.module_id, c.instruction_id, c.color
),
held AS (
  SELECT
    module_id, clone_id, space_color,
    sum(CAST(size_bytes AS HUGEINT) * (before_step - after_step - 1))
      AS byte_steps
  FROM released
  GROUP BY module_id, clone_id, space_color
),
moved AS (
  SELECT c.module_id, c.instruction_id, sum(o.result_bytes) AS read_bytes
  FROM clones AS c
  JOIN operands AS p USING (module_id, instruction_id)
  JOIN named AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  GROUP BY c.module_id, c.instruction_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  c.name AS instruction, c.opcode, c.original, r.kept_from,
  CAST(r.size_bytes AS BIGINT) AS size_bytes,
  CAST(r.gap_steps AS BIGINT) AS gap_steps,
  CAST(r.not_held AS BIGINT) AS not_held_byte_steps,
  CAST(CASE WHEN r.gap_steps IS NOT NULL THEN coalesce(h.byte_steps, 0) END
    AS BIGINT) AS held_byte_steps,
  CAST(p.peak_bytes - m.live_peak_bytes AS BIGINT) AS saved_at_peak_bytes,
  m.live_peak_bytes, CAST(p.peak_bytes AS BIGINT) AS kept_peak_bytes,
  p.peak_step AS kept_peak_step,
  CAST(a.peak_bytes AS BIGINT) AS all_kept_peak_bytes,
  coalesce(w.flop, 0) AS flop,
  CAST(c.result_bytes + coalesce(b.read_bytes, 0) AS BIGINT) AS moved_bytes,
  (p.peak_bytes - m.live_peak_bytes)
    / nullif(c.result_bytes + coalesce(b.read_bytes, 0), 0) AS saved_ratio,
  c.op_name
FROM selected_memory() AS m
JOIN rows AS r
  ON r.module_id = m.module_id
  AND r.space_color = m.color
JOIN clones AS c
  ON c.module_id = r.module_id
  AND c.instruction_id = r.clone_id
LEFT JOIN held AS h
  ON h.module_id = r.module_id
  AND h.clone_id = r.clone_id
  AND h.space_color = r.space_color
LEFT JOIN peaks AS p
  ON p.module_id = r.module_id
  AND p.clone_id = r.clone_id
  AND p.space_color = r.space_color
LEFT JOIN peaks AS a
  ON a.module_id = r.module_id
  AND a.clone_id IS NULL
  AND a.space_color = r.space_color
LEFT JOIN moved AS b
  ON b.module_id = c.module_id
  AND b.instruction_id = c.instruction_id
LEFT JOIN dot_work() AS w
  ON w.module_id = c.module_id
  AND w.instruction_id = c.instruction_id
ORDER BY
  saved_at_peak_bytes DESC NULLS LAST, not_held_byte_steps DESC NULLS LAST,
  m.program, m.module_number, m.rank, m.color, c.instruction_id
LIMIT $top
