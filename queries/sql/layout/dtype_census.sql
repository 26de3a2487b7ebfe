-- title: Element types at the peak
-- question: How much of the peak does each element type take, and what would
--   halving 4-byte floats save?
-- definition: owned_bytes of peak_values by element type and kind of
--   allocation. other counts bytes that no value covers, and tables of
--   pointers of tuples. half_gain_bytes is half of the bytes of f32 and f64
--   arrays at the peak step: an upper bound of the saving, as another step may
--   become the peak. peak_leverage_of_sets with grouped_by element_type gives
--   the exact saving.
-- grain: module occurrence, memory space, element type, kind of allocation
-- leading: program, space_name, element_type, kind, owned_bytes, peak_ratio,
--   half_gain_bytes
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
-- column element_type VARCHAR name neutral: Element type; other for bytes of
--   no array.
-- column kind
-- column owned_bytes BIGINT bytes lower_is_better: Their bytes of the live
--   peak.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column value_count BIGINT count neutral: Number of values.
-- column half_gain_bytes BIGINT bytes higher_is_better: Saving at this step if
--   the elements were half as wide.
WITH typed AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, m.occurrence, m.live_peak_bytes,
    v.kind, v.value_id, v.owned_bytes,
    coalesce(
      nullif(regexp_extract(v.shape, '^([a-z][a-z0-9]*)\[', 1), ''), 'other'
    ) AS element_type
  FROM selected_memory() AS m
  JOIN peak_values() AS v
    USING (module_id, color)
)
SELECT
  t.run_name AS run, t.program_name AS program, t.module_number, t.rank,
  t.space_color AS color, t.space_name, t.element_type, t.kind,
  CAST(sum(t.owned_bytes) AS BIGINT) AS owned_bytes,
  sum(t.owned_bytes) / nullif(t.live_peak_bytes, 0) AS peak_ratio,
  count(t.value_id) AS value_count,
  CAST(CASE WHEN t.element_type IN ('f32', 'f64')
    THEN sum(t.owned_bytes) // 2 ELSE 0 END AS BIGINT) AS half_gain_bytes
FROM typed AS t
GROUP BY
  t.run_name, t.program_name, t.module_number, t.rank, t.space_color,
  t.space_name, t.occurrence, t.live_peak_bytes, t.element_type, t.kind
ORDER BY
  t.live_peak_bytes DESC, t.program_name, t.module_number, t.rank,
  t.occurrence, t.space_color, owned_bytes DESC, t.element_type, t.kind
