-- step: What is not freed with a set, as others hold it, or as a later value
--   of the set frees it.
-- grain: set, step
WITH shared AS (
  SELECT DISTINCT
    r.set_id, r.allocation_id, r.value_id,
    greatest(m.step, r.start_step) AS step,
    least(m.until_step, r.end_step) AS until_step, m.from_byte, m.to_byte
  FROM removed_values AS r
  JOIN (
    SELECT *, ending_id AS value_id, starting_id AS other_id FROM shared_bytes
    UNION ALL
    SELECT *, starting_id, ending_id FROM shared_bytes
  ) AS m
    ON m.module_id = r.module_id
    AND m.allocation_id = r.allocation_id
    AND m.value_id = r.value_id
    AND m.step <= r.end_step
    AND m.until_step >= r.start_step
  LEFT JOIN removed_values AS o
    ON o.set_id = r.set_id
    AND o.allocation_id = r.allocation_id
    AND o.value_id = m.other_id
    AND m.step BETWEEN o.start_step AND o.end_step
  WHERE o.value_id IS NULL
    OR o.value_id > r.value_id
),
reached AS (
  SELECT
    *,
    coalesce(max(to_byte) OVER (
      PARTITION BY set_id, allocation_id, value_id, step
      ORDER BY from_byte, to_byte
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS covered_to
  FROM shared
)
SELECT
  set_id, step, until_step,
  sum(greatest(0, to_byte - greatest(from_byte, covered_to))) AS kept_bytes
FROM reached
GROUP BY set_id, step, until_step
