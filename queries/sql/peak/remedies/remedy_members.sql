-- step: Values that a remedy frees, by the set that is priced together: those
--   of one rule and subject. What is too small even if all of it went needs no
--   price.
-- grain: value, set
WITH sized AS (
  SELECT
    v.*,
    sum(CAST(v.size_bytes AS HUGEINT) * v.part // v.whole) OVER (
      PARTITION BY
        v.module_id, v.locations_id, v.space_color, v.rule_id, v.subject
    ) AS most_bytes
  FROM pooled_values AS v
)
SELECT
  v.module_id, v.locations_id, v.rule_id || '|' || v.subject AS set_name,
  v.instruction_id, v.size_bytes, v.value_id, v.part, v.whole, v.is_apart,
  v.from_step, v.until_step, v.chunk,
  row_number() OVER (ORDER BY v.value_id, v.instruction_id) AS place
FROM sized AS v
WHERE v.most_bytes > 0
  AND v.most_bytes >= $min_ratio * v.peak_bytes
