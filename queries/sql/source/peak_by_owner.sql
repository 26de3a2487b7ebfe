-- title: Peak memory by code owner
-- question: Which code owners hold the peak?
-- definition: owned_bytes of peak_values by owner. owner_rules gives the owner
--   of the source file from value_sources; the longest prefix decides. Files
--   without an owner are (unowned), values without a source (no source).
-- grain: module occurrence, memory space, owner
-- leading: program, space_name, owner, owned_bytes, peak_ratio, file_count
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
-- column owner VARCHAR name neutral: Owner of the source files.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column file_count BIGINT count neutral: Source files.
WITH sourced AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, m.occurrence, m.live_peak_bytes,
    v.owned_bytes, s.source_file
  FROM selected_memory() AS m
  JOIN peak_values() AS v
    USING (module_id, color)
  LEFT JOIN value_sources() AS s
    ON s.module_id = m.module_id
    AND s.locations_id = m.locations_id
    AND s.value_id = v.value_id
),
owned_files AS (
  SELECT
    f.source_file, arg_max(r.owner, (length(r.path_prefix), r.owner)) AS owner
  FROM (
    SELECT DISTINCT source_file FROM sourced WHERE source_file IS NOT NULL
  ) AS f
  JOIN owner_rules() AS r
    ON starts_with(f.source_file, r.path_prefix)
    OR contains(f.source_file, '/' || r.path_prefix)
  GROUP BY f.source_file
),
owned_bytes AS (
  SELECT
    s.*,
    CASE
      WHEN s.source_file IS NULL THEN '(no source)'
      ELSE coalesce(o.owner, '(unowned)')
    END AS owner
  FROM sourced AS s
  LEFT JOIN owned_files AS o ON o.source_file = s.source_file
)
SELECT
  s.run_name AS run, s.program_name AS program, s.module_number, s.rank,
  s.space_color AS color, s.space_name, s.owner,
  CAST(sum(s.owned_bytes) AS BIGINT) AS owned_bytes,
  sum(s.owned_bytes) / nullif(s.live_peak_bytes, 0) AS peak_ratio,
  count(DISTINCT s.source_file) AS file_count
FROM owned_bytes AS s
GROUP BY
  s.run_name, s.program_name, s.module_number, s.rank, s.space_color,
  s.space_name, s.occurrence, s.live_peak_bytes, s.owner
ORDER BY
  s.live_peak_bytes DESC, s.program_name, s.module_number, s.rank,
  s.occurrence, s.space_color, owned_bytes DESC, s.owner
