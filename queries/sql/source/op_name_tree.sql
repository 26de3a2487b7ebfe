-- title: Peak memory by framework path
-- question: Which parts of the model hold the peak?
-- definition: owned_bytes of peak_values by op_name, cut at '/', with numbers
--   replaced (layer_12 is layer_*). One row per prefix: total_bytes counts
--   everything below it, self_bytes only values with exactly this path. folded
--   is the line 'a;b;c bytes' that flame graph viewers read (NULL if
--   self_bytes is 0). Values without a path are under (parameter), (constant)
--   or (no op_name). peak_leverage_of_sets gives the fall of the peak without
--   a prefix.
-- grain: module occurrence, memory space, prefix
-- leading: program, space_name, op_path, self_bytes, total_bytes, peak_ratio,
--   value_count
-- split: programs
-- param run
-- param program
-- param color
-- param max_depth BIGINT = 100 from 0: Only prefixes of at most this many
--   parts.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column op_path VARCHAR name neutral: Prefix of the framework path.
-- column depth BIGINT count neutral: Number of its parts.
-- column self_bytes BIGINT bytes lower_is_better: Bytes of values with exactly
--   this path.
-- column total_bytes BIGINT bytes lower_is_better: Bytes of this path and
--   everything below.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column value_count BIGINT count neutral: Values with this path or below.
-- column folded VARCHAR text neutral: Line for flame graph viewers.
WITH owned AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, m.occurrence, m.live_peak_bytes,
    v.owned_bytes,
    string_split(
      CASE
        WHEN o.op_path IS NOT NULL AND o.op_path <> '' THEN o.op_path
        WHEN v.kind IN ('parameter', 'constant') THEN '(' || v.kind || ')'
        ELSE '(no op_name)'
      END, '/'
    ) AS parts
  FROM selected_memory() AS m
  JOIN peak_values() AS v
    USING (module_id, color)
  LEFT JOIN op_paths() AS o
    ON o.module_id = v.module_id
    AND o.instruction_id = v.instruction_id
  WHERE v.owned_bytes > 0
),
prefixes AS (
  SELECT
    run_name, program_name, module_number, rank, space_color, space_name,
    occurrence, live_peak_bytes, owned_bytes, parts,
    unnest(range(1, len(parts) + 1)) AS depth
  FROM owned
),
summed AS (
  SELECT
    run_name, program_name, module_number, rank, space_color, space_name,
    occurrence, live_peak_bytes, depth,
    array_to_string(parts[:depth], '/') AS op_path,
    array_to_string(parts[:depth], ';') AS folded_path,
    sum(owned_bytes) AS total_bytes,
    coalesce(sum(owned_bytes) FILTER (WHERE depth = len(parts)), 0)
      AS self_bytes,
    count(*) AS value_count
  FROM prefixes
  GROUP BY ALL
)
SELECT
  s.run_name AS run, s.program_name AS program, s.module_number, s.rank,
  s.space_color AS color, s.space_name, s.op_path, s.depth,
  CAST(s.self_bytes AS BIGINT) AS self_bytes,
  CAST(s.total_bytes AS BIGINT) AS total_bytes,
  s.total_bytes / nullif(s.live_peak_bytes, 0) AS peak_ratio, s.value_count,
  CASE WHEN s.self_bytes > 0 THEN s.folded_path || ' ' || s.self_bytes END
    AS folded
FROM summed AS s
WHERE s.depth <= $max_depth
ORDER BY
  s.live_peak_bytes DESC, s.program_name, s.module_number, s.rank,
  s.occurrence, s.space_color, s.op_path
