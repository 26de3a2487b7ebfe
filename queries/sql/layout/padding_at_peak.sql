-- title: Padding at the peak
-- question: How much of the peak is padding?
-- definition: Per memory space, the padding of values live at peak_step: bytes
--   beyond the first logical_bytes of the newest value that covers them.
--   uncovered_bytes are bytes of parameters, constants and live-outs at the
--   peak that no value covers.
-- grain: module occurrence, memory space
-- leading: program, space_name, padding_bytes, padding_ratio, live_peak_bytes,
--   uncovered_bytes, padded_value_count
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
-- column live_peak_bytes
-- column padding_bytes BIGINT bytes lower_is_better: Padding live at the peak.
-- column padding_ratio DOUBLE ratio lower_is_better: Its share of the peak.
-- column uncovered_bytes BIGINT bytes lower_is_better: Bytes at the peak that
--   no value covers.
-- column padded_value_count BIGINT count neutral: Values with padding at the
--   peak.
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  m.live_peak_bytes, CAST(sum(v.padding_bytes) AS BIGINT) AS padding_bytes,
  sum(v.padding_bytes) / nullif(m.live_peak_bytes, 0) AS padding_ratio,
  CAST(coalesce(sum(v.owned_bytes) FILTER (WHERE v.value_id IS NULL), 0)
    AS BIGINT)
    AS uncovered_bytes,
  count(*) FILTER (WHERE v.padding_bytes > 0) AS padded_value_count
FROM selected_memory() AS m
JOIN peak_values() AS v
  USING (module_id, color)
GROUP BY
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  m.occurrence, m.live_peak_bytes
ORDER BY
  padding_bytes DESC, m.program, m.module_number, m.rank, m.occurrence, m.color
