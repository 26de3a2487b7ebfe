-- title: Values live at the peak
-- question: Which values are live at the peak, how large are they, and which
--   source line created them?
-- definition: Values live at peak_step, the largest share first. Bytes that
--   two values share in place belong to the newer one; the older one names it
--   in shares_with. Parameters, constants and live-outs count as whole
--   allocations: bytes that no value covers are a row without an instruction.
--   owned_bytes of a module and memory space add up to live_peak_bytes.
--   op_name and source line are those of the defining instruction, or of the
--   first reader with a source line (attribution read, see value_sources).
-- grain: module occurrence, memory space, value
-- leading: program, space_name, instruction, owned_bytes, peak_ratio,
--   source_file, source_line, shape
-- split: programs
-- param run
-- param program
-- param color
-- param top BIGINT = NULL from 0: At most this many values per module and
--   memory space; NULL for all, or for 20 where hlodb query prints a table.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction
-- column shape_index
-- column opcode
-- column kind
-- column shape
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the peak that it
--   owns.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column cumulative_ratio
-- column size_bytes
-- column logical_bytes
-- column allocation_id
-- column offset_bytes
-- column start_step
-- column end_step
-- column shares_with VARCHAR name neutral: Instruction of the value that owns
--   most of its other bytes.
-- column attribution VARCHAR name neutral: defined: line of the definition;
--   read: line of the first reader; NULL without a line.
-- column op_name
-- column source_file
-- column source_line
-- column path
WITH placed AS (
  SELECT
    m.run, m.program, m.module_number, m.rank, m.occurrence, m.path, m.color,
    m.space_name, m.locations_id, v.module_id, v.allocation_id, v.kind,
    v.value_id, v.instruction_id, v.shape_index, v.shape, v.offset_bytes,
    v.size_bytes, v.logical_bytes, v.owned_bytes, v.live_peak_bytes,
    v.start_step, v.end_step, w.instruction AS shares_with,
    row_number() OVER largest AS place,
    sum(v.owned_bytes) OVER largest AS cumulative_bytes
  FROM selected_memory() AS m
  JOIN peak_values() AS v
    USING (module_id, color)
  LEFT JOIN "values" AS w
    ON w.module_id = v.module_id
    AND w.value_id = v.shares_with
  WINDOW largest AS (
    PARTITION BY m.occurrence, m.color
    ORDER BY v.owned_bytes DESC, v.allocation_id, v.value_id
    ROWS UNBOUNDED PRECEDING
  )
)
SELECT
  p.run, p.program, p.module_number, p.rank, p.color, p.space_name,
  i.name AS instruction, p.shape_index, f.opcode, p.kind, p.shape,
  p.owned_bytes,
  p.owned_bytes / nullif(p.live_peak_bytes, 0) AS peak_ratio,
  p.cumulative_bytes / nullif(p.live_peak_bytes, 0) AS cumulative_ratio,
  p.size_bytes, p.logical_bytes, p.allocation_id, p.offset_bytes,
  p.start_step, p.end_step, p.shares_with,
  s.attribution, coalesce(s.op_name, f.op_name) AS op_name, s.source_file,
  s.source_line, p.path
FROM placed AS p
LEFT JOIN store.instructions AS i
  ON i.module_id = p.module_id
  AND i.instruction_id = p.instruction_id
LEFT JOIN store.instruction_forms AS f USING (form_id)
LEFT JOIN value_sources() AS s
  ON s.module_id = p.module_id
  AND s.locations_id = p.locations_id
  AND s.value_id = p.value_id
WHERE $top IS NULL
  OR p.place <= $top
ORDER BY
  p.live_peak_bytes DESC, p.program, p.module_number, p.rank, p.occurrence,
  p.color, p.place
