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
-- steps: named_instructions, clones, array_places, reads, clone_arrays,
--   kept_arrays, asked_cases, released_arrays, case_peaks
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
WITH -- Of each clone: what would be kept, else its own arrays.
clone_rows AS (
  SELECT
    module_id, clone_id, space_color, sum(size_bytes) AS size_bytes,
    min(name) AS kept_from, max(before_step - after_step - 1) AS gap_steps,
    sum(CAST(size_bytes AS HUGEINT) * (before_step - after_step - 1))
      AS not_held
  FROM kept_arrays
  WHERE clone_id IS NOT NULL
  GROUP BY module_id, clone_id, space_color
  UNION ALL
  SELECT
    c.module_id, c.instruction_id, c.color, sum(c.size_bytes), NULL, NULL, NULL
  FROM clone_arrays AS c
  ANTI JOIN kept_arrays AS k
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
  FROM released_arrays
  GROUP BY module_id, clone_id, space_color
),
moved AS (
  SELECT c.module_id, c.instruction_id, sum(o.result_bytes) AS read_bytes
  FROM clones AS c
  JOIN operands AS p USING (module_id, instruction_id)
  JOIN named_instructions AS o
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
JOIN clone_rows AS r
  ON r.module_id = m.module_id
  AND r.space_color = m.color
JOIN clones AS c
  ON c.module_id = r.module_id
  AND c.instruction_id = r.clone_id
LEFT JOIN held AS h
  ON h.module_id = r.module_id
  AND h.clone_id = r.clone_id
  AND h.space_color = r.space_color
LEFT JOIN case_peaks AS p
  ON p.module_id = r.module_id
  AND p.clone_id = r.clone_id
  AND p.space_color = r.space_color
LEFT JOIN case_peaks AS a
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
