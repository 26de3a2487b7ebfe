-- step: Marked values of each content, where loops of one source line are one
--   subject: a checkpoint around their body is one edit. A set has one part of
--   its bytes that goes, so theirs is that of all of them.
-- grain: module content, value, rule, subject
WITH placed AS MATERIALIZED (
  SELECT c.locations_id, c.peak_bytes, m.*
  FROM marked_values AS m
  JOIN (
    SELECT
      t.module_id, t.locations_id, t.color,
      any_value(t.live_peak_bytes) AS peak_bytes
    FROM chosen_memory AS t
    GROUP BY t.module_id, t.locations_id, t.color
  ) AS c
    ON c.module_id = m.module_id
    AND c.color = m.space_color
),
sets_of_loops AS (
  SELECT
    p.module_id, p.locations_id, p.space_color, p.rule_id, p.subject,
    sum(CAST(p.size_bytes AS HUGEINT)) AS size_bytes,
    sum(CAST(p.size_bytes AS HUGEINT) * p.part // p.whole) AS freed_bytes,
    arg_max(
      struct_pack(file := i.source_file, line := i.source_line),
      (i.source_file IS NOT NULL, p.size_bytes, -p.value_id)
    ) AS source
  FROM placed AS p
  JOIN instruction_sources() AS i
    ON i.module_id = p.module_id
    AND i.locations_id IS NOT DISTINCT FROM p.locations_id
    AND i.instruction_id = p.instruction_id
  WHERE p.rule_id IN ('checkpoint_loop', 'nest_loop')
  GROUP BY
    p.module_id, p.locations_id, p.space_color, p.rule_id, p.subject
),
pooled_loops AS (
  SELECT
    l.module_id, l.locations_id, l.space_color, l.rule_id,
    unnest(list(l.subject)) AS subject,
    replace(
      min(l.subject), ' saves', format(' and {} more save', count(*) - 1)
    ) AS pooled_subject,
    CAST(1000 * sum(l.freed_bytes) // sum(l.size_bytes) AS BIGINT)
      AS pooled_part
  FROM sets_of_loops AS l
  WHERE l.source.file IS NOT NULL
  GROUP BY l.module_id, l.locations_id, l.space_color, l.rule_id, l.source
  HAVING count(*) > 1
)
SELECT
  p.* REPLACE (
    coalesce(l.pooled_subject, p.subject) AS subject,
    coalesce(l.pooled_part, p.part) AS part,
    CASE WHEN l.pooled_part IS NULL THEN p.whole ELSE 1000 END AS whole
  )
FROM placed AS p
LEFT JOIN pooled_loops AS l
  ON l.module_id = p.module_id
  AND l.locations_id IS NOT DISTINCT FROM p.locations_id
  AND l.space_color = p.space_color
  AND l.rule_id = p.rule_id
  AND l.subject = p.subject
