-- step: What is computed of these for all examples, where nothing but sums
--   over the examples is read of it, and none of it again with these sums, as
--   by the distance to a mean.
-- grain: program, length, value
WITH RECURSIVE derived AS MATERIALIZED (
  SELECT c.module_id, l.length, c.value_id
  FROM collected_arrays AS c
  JOIN mapped_arrays AS m USING (module_id, value_id)
  JOIN example_lengths AS l
    ON l.module_id = c.module_id
    AND len(list_filter(m.sides, lambda x: x % l.length = 0)) > 0
  UNION
  SELECT d.module_id, d.length, v.value_id
  FROM derived AS d
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN row_wise_arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
    AND len(list_filter(
      string_split(v.dimensions, ','),
      lambda x: TRY_CAST(x AS BIGINT) % d.length = 0
    )) > 0
),
derived_readers AS MATERIALIZED (
  SELECT
    d.module_id, d.length, u.instruction_id,
    bool_or(o.value_id IS NOT NULL) AS is_passed_on,
    bool_or(s.instruction_id IS NOT NULL) AS is_reducing,
    coalesce(max(v.size_bytes), 0) AS result_bytes
  FROM derived AS d
  JOIN store.value_uses AS u USING (module_id, value_id)
  LEFT JOIN reducing_instructions AS s
    ON s.module_id = u.module_id
    AND s.instruction_id = u.instruction_id
  LEFT JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
  LEFT JOIN derived AS o
    ON o.module_id = v.module_id
    AND o.value_id = v.value_id
    AND o.length = d.length
  GROUP BY d.module_id, d.length, u.instruction_id
),
added_up AS (
  SELECT r.module_id, r.length
  FROM derived_readers AS r
  JOIN (
    SELECT module_id, sum(size_bytes) AS size_bytes
    FROM collected_arrays
    GROUP BY module_id
  ) AS c USING (module_id)
  GROUP BY r.module_id, r.length, c.size_bytes
  HAVING bool_and(r.is_passed_on OR r.is_reducing)
    AND 8 * sum(CAST(r.result_bytes AS HUGEINT))
      FILTER (WHERE NOT r.is_passed_on) <= c.size_bytes
),
behind AS MATERIALIZED (
  SELECT r.module_id, r.length, v.value_id
  FROM derived_readers AS r
  SEMI JOIN added_up AS a USING (module_id, length)
  JOIN arrays AS v USING (module_id, instruction_id)
  WHERE NOT r.is_passed_on
  UNION
  SELECT b.module_id, b.length, v.value_id
  FROM behind AS b
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
)
SELECT d.module_id, d.length, d.value_id
FROM derived AS d
SEMI JOIN added_up AS a USING (module_id, length)
ANTI JOIN (
  SELECT b.module_id, b.length
  FROM behind AS b
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN derived_readers AS r USING (module_id, length, instruction_id)
) AS n USING (module_id, length)
