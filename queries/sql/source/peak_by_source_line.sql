-- title: Peak memory by source line
-- question: Which lines of your code hold the peak?
-- definition: owned_bytes of peak_contents by source line of the defining
--   instruction: the innermost frame outside of framework files, or else file
--   and line of the metadata. A temporary value that the compiler added
--   without a source counts for the line that reads it first (value_sources);
--   read_bytes is the part of owned_bytes from such values. Values without
--   either have no line; they have a row per kind of allocation.
--   peak_leverage_of_sets gives the fall of the peak without a line.
-- grain: module occurrence, memory space, source line
-- leading: program, space_name, source_file, source_line, owned_bytes,
--   peak_ratio, value_count, largest_instruction
-- split: programs
-- param run
-- param program
-- param color
-- param top BIGINT = NULL from 0: At most this many lines per module and
--   memory space; NULL for all, or for 20 where hlodb query prints a table.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column source_file
-- column source_line
-- column function_name
-- column kind VARCHAR name neutral: Kind of allocation, for values without a
--   line.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column read_bytes BIGINT bytes neutral: Part of owned_bytes from values that
--   the line only reads first.
-- column value_count BIGINT count neutral: Values that own bytes of the peak.
-- column largest_instruction VARCHAR name neutral: Instruction that owns the
--   most bytes.
-- column path
WITH names AS MATERIALIZED (
  -- Of the run's instructions alone, lest a few values meet those of all runs.
  SELECT i.module_id, i.instruction_id, i.name
  FROM (
    SELECT DISTINCT module_id
    FROM selected_memory()
  ) AS m
  JOIN store.instructions AS i USING (module_id)
),
lines AS (
  SELECT
    m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
    m.occurrence, m.path, m.live_peak_bytes, s.source_file, s.source_line,
    CASE WHEN s.source_file IS NULL THEN v.kind END AS kind,
    min(s.function_name) AS function_name,
    CAST(sum(v.owned_bytes) AS BIGINT) AS owned_bytes,
    CAST(coalesce(
      sum(v.owned_bytes) FILTER (
        WHERE s.attribution = 'read'
          AND s.source_file IS NOT NULL
      ), 0
    ) AS BIGINT) AS read_bytes,
    count(*) FILTER (WHERE v.owned_bytes > 0) AS value_count,
    arg_max(i.name, (v.owned_bytes, -v.value_id)) AS largest_instruction
  FROM selected_memory() AS m
  JOIN peak_values() AS v
    USING (module_id, color)
  LEFT JOIN value_sources() AS s
    ON s.module_id = m.module_id
    AND s.locations_id = m.locations_id
    AND s.value_id = v.value_id
  LEFT JOIN names AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  GROUP BY ALL
),
ranked AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY lines.occurrence, lines.color
      ORDER BY
        lines.owned_bytes DESC, lines.source_file, lines.source_line,
        lines.kind
    ) AS place
  FROM lines
)
SELECT
  r.run, r.program, r.module_number, r.rank, r.color, r.space_name,
  r.source_file, r.source_line, r.function_name, r.kind, r.owned_bytes,
  r.owned_bytes / nullif(r.live_peak_bytes, 0) AS peak_ratio,
  r.read_bytes, r.value_count, r.largest_instruction, r.path
FROM ranked AS r
WHERE $top IS NULL
  OR r.place <= $top
ORDER BY
  r.live_peak_bytes DESC, r.program, r.module_number, r.rank, r.occurrence,
  r.color, r.place
