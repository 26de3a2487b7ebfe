-- title: Bytes without source attribution
-- question: How much of the peak has no framework path or source line, and
--   which operations is that?
-- definition: owned_bytes of peak_values by class and opcode of the defining
--   instruction. Classes: source (a line of the user's code, see
--   instruction_sources), library_source (a line in an installed package that
--   is no framework, in site-packages or dist-packages), argument (a parameter
--   with a name), constant, op_name_only, or nothing.
-- grain: module occurrence, memory space, class, opcode
-- leading: program, space_name, class, opcode, owned_bytes, peak_ratio,
--   value_count
-- split: programs
-- param run
-- param program
-- param color
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column class VARCHAR name neutral: What is known about the origin: source,
--   library_source, argument, constant, op_name_only or nothing.
-- column opcode
-- column owned_bytes BIGINT bytes neutral: Bytes of the live peak.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column value_count BIGINT count neutral: Number of values.
WITH known AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, m.occurrence, m.live_peak_bytes,
    v.value_id, v.owned_bytes,
    coalesce(i.opcode, '(' || v.kind || ')') AS operation,
    CASE
      WHEN l.source_file LIKE '%/site-packages/%'
        OR l.source_file LIKE '%/dist-packages/%' THEN 'library_source'
      WHEN l.source_file IS NOT NULL THEN 'source'
      WHEN i.opcode = 'parameter' AND i.op_name IS NOT NULL THEN 'argument'
      WHEN i.opcode = 'constant' THEN 'constant'
      WHEN i.op_name IS NOT NULL THEN 'op_name_only'
      ELSE 'nothing'
    END AS class
  FROM selected_memory() AS m
  JOIN peak_values() AS v
    USING (module_id, color)
  LEFT JOIN selected_instructions() AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN instruction_sources() AS l
    ON l.module_id = v.module_id
    AND l.locations_id = m.locations_id
    AND l.instruction_id = v.instruction_id
)
SELECT
  k.run_name AS run, k.program_name AS program, k.module_number, k.rank,
  k.space_color AS color, k.space_name, k.class, k.operation AS opcode,
  CAST(sum(k.owned_bytes) AS BIGINT) AS owned_bytes,
  sum(k.owned_bytes) / nullif(k.live_peak_bytes, 0) AS peak_ratio,
  count(k.value_id) AS value_count
FROM known AS k
GROUP BY
  k.run_name, k.program_name, k.module_number, k.rank, k.space_color,
  k.space_name, k.occurrence, k.live_peak_bytes, k.class, k.operation
ORDER BY
  k.live_peak_bytes DESC, k.program_name, k.module_number, k.rank,
  k.occurrence, k.space_color, owned_bytes DESC, k.class, k.operation
