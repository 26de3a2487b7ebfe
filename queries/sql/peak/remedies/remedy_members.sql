-- step: Values that a remedy frees, by the set that is priced together: those
--   of one rule and subject. Loops of one source line are one set, as a
--   checkpoint around their body is one edit. What is too small even if all of
--   it went needs no price.
-- grain: value, set
WITH contents AS (
  SELECT
    c.module_id, c.locations_id, c.color AS space_color,
    any_value(c.live_peak_bytes) AS peak_bytes
  FROM chosen_memory AS c
  GROUP BY c.module_id, c.locations_id, c.color
),
sets AS MATERIALIZED (
  SELECT
    c.locations_id, m.module_id, m.space_color, m.rule_id, m.subject,
    any_value(c.peak_bytes) AS peak_bytes,
    sum(CAST(m.size_bytes AS HUGEINT) * m.part // m.whole) AS freed_bytes,
    sum(CAST(m.size_bytes AS HUGEINT)) AS size_bytes
  FROM marked_values AS m
  JOIN contents AS c
    ON c.module_id = m.module_id
    AND c.space_color = m.space_color
  GROUP BY
    c.locations_id, m.module_id, m.space_color, m.rule_id, m.subject
),
loop_lines AS (
  SELECT
    c.locations_id, m.module_id, m.space_color, m.rule_id, m.subject,
    i.source_file, i.source_line
  FROM marked_values AS m
  JOIN contents AS c
    ON c.module_id = m.module_id
    AND c.space_color = m.space_color
  JOIN instruction_sources() AS i
    ON i.module_id = c.module_id
    AND i.locations_id IS NOT DISTINCT FROM c.locations_id
    AND i.instruction_id = m.instruction_id
  WHERE m.rule_id IN ('checkpoint_loop', 'nest_loop')
    AND i.source_file IS NOT NULL
  GROUP BY
    c.locations_id, m.module_id, m.space_color, m.rule_id, m.subject,
    i.source_file, i.source_line
  QUALIFY row_number() OVER (
    PARTITION BY
      c.locations_id, m.module_id, m.space_color, m.rule_id, m.subject
    ORDER BY sum(m.size_bytes) DESC, i.source_file, i.source_line
  ) = 1
),
-- A set has one part of its bytes that goes.
loops_of_lines AS (
  SELECT
    s.module_id, s.locations_id, s.space_color, s.rule_id,
    min(s.subject) AS first_subject, list(s.subject) AS subjects,
    CAST(1000 * sum(s.freed_bytes) // sum(s.size_bytes) AS BIGINT) AS part
  FROM sets AS s
  JOIN loop_lines AS i
    ON i.module_id = s.module_id
    AND i.locations_id IS NOT DISTINCT FROM s.locations_id
    AND i.space_color = s.space_color
    AND i.rule_id = s.rule_id
    AND i.subject = s.subject
  GROUP BY
    s.module_id, s.locations_id, s.space_color, s.rule_id, i.source_file,
    i.source_line
  HAVING count(*) > 1
),
pooled AS (
  SELECT
    s.*,
    CASE
      WHEN l.part IS NULL THEN s.subject
      ELSE replace(
        l.first_subject, ' saves',
        format(' and {} more save', len(l.subjects) - 1)
      )
    END AS set_subject,
    l.part AS set_part,
    sum(s.freed_bytes) OVER (
      PARTITION BY
        s.module_id, s.locations_id, s.space_color, s.rule_id, set_subject
    ) AS most_bytes
  FROM sets AS s
  LEFT JOIN loops_of_lines AS l
    ON l.module_id = s.module_id
    AND l.locations_id IS NOT DISTINCT FROM s.locations_id
    AND l.space_color = s.space_color
    AND l.rule_id = s.rule_id
    AND list_contains(l.subjects, s.subject)
)
SELECT
  m.module_id, p.locations_id, m.rule_id || '|' || p.set_subject AS set_name,
  m.instruction_id, m.size_bytes, m.value_id,
  coalesce(p.set_part, m.part) AS part,
  CASE WHEN p.set_part IS NULL THEN m.whole ELSE 1000 END AS whole,
  m.is_apart, m.from_step, m.until_step, m.chunk,
  row_number() OVER (ORDER BY m.value_id, m.instruction_id) AS place
FROM pooled AS p
JOIN marked_values AS m
  ON m.module_id = p.module_id
  AND m.space_color = p.space_color
  AND m.rule_id = p.rule_id
  AND m.subject = p.subject
WHERE p.most_bytes > 0
  AND p.most_bytes >= $min_ratio * p.peak_bytes
