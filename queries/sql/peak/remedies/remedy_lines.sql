-- step: The source line that holds most of each set at the peak: that of its
--   values or a reader's; for a checkpoint that of the loop, for what grows
--   that of its concatenation, and for what is f32 by promotion that of this.
--   What is donated or sharded has none: that is said where the program is
--   called.
-- grain: module content, set
WITH at_peak AS (
  SELECT DISTINCT p.module_id, c.locations_id, p.value_id
  FROM chosen_memory AS c
  JOIN value_places() AS p
    ON p.module_id = c.module_id
    AND p.color = c.color
    AND c.peak_step BETWEEN p.start_step AND p.end_step
),
member_lines AS (
  SELECT
    m.*, s.source_file, s.source_line, s.attribution <> 'read' AS is_own
  FROM remedy_members AS m
  JOIN value_sources() AS s
    ON s.module_id = m.module_id
    AND s.locations_id IS NOT DISTINCT FROM m.locations_id
    AND s.value_id = m.value_id
  WHERE split_part(m.set_name, '|', 1) NOT IN (
      'donate', 'shard', 'nest_loop', 'checkpoint_loop', 'write_in_place',
      'keep_narrow'
    )
  UNION ALL
  SELECT m.*, s.source_file, s.source_line, TRUE
  FROM remedy_members AS m
  JOIN instruction_sources() AS s
    ON s.module_id = m.module_id
    AND s.locations_id IS NOT DISTINCT FROM m.locations_id
    AND s.instruction_id = m.instruction_id
  WHERE split_part(m.set_name, '|', 1)
    IN ('nest_loop', 'checkpoint_loop', 'write_in_place', 'keep_narrow')
),
summed_lines AS (
  SELECT
    m.module_id, m.locations_id, m.set_name, m.source_file, m.source_line,
    (
      bool_or(m.is_own),
      coalesce(sum(m.size_bytes) FILTER (WHERE p.value_id IS NOT NULL), 0),
      max(m.size_bytes), -min(m.place)
    ) AS weight
  FROM member_lines AS m
  LEFT JOIN at_peak AS p
    ON p.module_id = m.module_id
    AND p.locations_id IS NOT DISTINCT FROM m.locations_id
    AND p.value_id = m.value_id
  WHERE m.source_file IS NOT NULL
  GROUP BY
    m.module_id, m.locations_id, m.set_name, m.source_file, m.source_line
)
SELECT
  s.module_id, s.locations_id, s.set_name,
  arg_max(
    {'source_file': s.source_file, 'source_line': s.source_line}, s.weight
  ) AS found
FROM summed_lines AS s
GROUP BY s.module_id, s.locations_id, s.set_name
