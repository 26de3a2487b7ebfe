-- step: Values that a remedy frees, by the set that is priced together: those
--   of one rule and subject. What is too small even if all of it went needs no
--   price.
-- grain: value, set
WITH contents AS (
  SELECT
    c.module_id, c.locations_id, c.color AS space_color,
    any_value(c.live_peak_bytes) AS peak_bytes
  FROM chosen_memory AS c
  GROUP BY c.module_id, c.locations_id, c.color
),
sized AS (
  SELECT
    m.*,
    sum(CAST(m.size_bytes AS HUGEINT) * m.part // m.whole) OVER (
      PARTITION BY m.module_id, m.space_color, m.rule_id, m.subject
    ) AS most_bytes
  FROM marked_values AS m
)
SELECT
  c.module_id, c.locations_id, m.rule_id || '|' || m.subject AS set_name,
  m.instruction_id, m.size_bytes,
  m.value_id, m.part, m.whole, m.is_apart, m.from_step, m.until_step,
  m.chunk,
  row_number() OVER (ORDER BY m.value_id, m.instruction_id) AS place
FROM sized AS m
JOIN contents AS c
  ON c.module_id = m.module_id
  AND c.space_color = m.space_color
WHERE m.most_bytes > 0
  AND m.most_bytes >= $min_ratio * c.peak_bytes
