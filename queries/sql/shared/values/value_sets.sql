-- title: Sets of values
-- question: Which values come from one source line or part of the model, or
--   have one element type?
-- definition: Every placed value that is not thread-local, once for each set
--   that contains it. source_line: the line of value_sources, file:line.
--   op_name: every prefix of the op_path of its defining instruction, without
--   prefixes that contain the same values as a longer one. element_type: that
--   of its array; other for everything else. kind: the kind of its allocation.
--   Values without a source line or an op_name are in no such set.
-- grain: module content, source locations, set, value
-- param run
-- param program
-- param grouped_by
-- column module_id
-- column locations_id
-- column set_name VARCHAR name neutral: Source line, prefix, element type or
--   kind.
-- column value_id
WITH placed AS (
  SELECT DISTINCT
    m.module_id, m.locations_id, v.value_id, v.instruction_id, v.kind, v.shape
  FROM selected_modules() AS m
  JOIN value_places() AS v USING (module_id)
  WHERE v.kind <> 'thread_local'
),
paths AS (
  SELECT
    v.module_id, v.locations_id, v.value_id,
    string_split(o.op_path, '/') AS parts,
    unnest(range(1, len(string_split(o.op_path, '/')) + 1)) AS depth
  FROM placed AS v
  JOIN op_paths() AS o
    ON o.module_id = v.module_id
    AND o.instruction_id = v.instruction_id
  WHERE $grouped_by = 'op_name'
    AND o.op_path <> ''
),
prefixes AS (
  SELECT
    module_id, locations_id, value_id, depth,
    array_to_string(parts[:depth], '/') AS set_name
  FROM paths
),
sized AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY module_id, locations_id, set_name)
      AS value_count
  FROM prefixes
),
selected_prefixes AS (
  SELECT
    *,
    lead(value_count) OVER (
      PARTITION BY module_id, locations_id, value_id ORDER BY depth
    ) AS longer_count
  FROM sized
)
SELECT module_id, locations_id, set_name, value_id
FROM selected_prefixes
WHERE longer_count IS DISTINCT FROM value_count
UNION ALL
SELECT
  v.module_id, v.locations_id, s.source_file || ':' || s.source_line,
  v.value_id
FROM placed AS v
JOIN value_sources() AS s
  USING (module_id, locations_id, value_id)
WHERE $grouped_by = 'source_line'
  AND s.source_file IS NOT NULL
UNION ALL
SELECT
  v.module_id, v.locations_id,
  CASE $grouped_by WHEN 'kind' THEN v.kind ELSE coalesce(
    nullif(regexp_extract(v.shape, '^([a-z][a-z0-9]*)\[', 1), ''), 'other'
  ) END,
  v.value_id
FROM placed AS v
WHERE $grouped_by IN ('kind', 'element_type')
