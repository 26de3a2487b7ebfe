-- step: Spaces with a claim of an edit where the inputs differ too, but
--   nothing else: they have the rest with it. Where an argument is of another
--   size, so is most of the program: is_together says that it is not divided,
--   as what is left is less than what rows show of the inputs, or buffers
--   that are not found again hold half of the difference the other way, or as
--   what follows from larger arguments is smaller, or the reverse, or as a
--   twentieth or more is of new weights, such as those of one more layer,
--   which are computed with. Nor where what is left goes the way of arguments
--   of another type: what is copied of them has that type, too.
-- grain: pair, memory space
WITH new_weights AS (
  SELECT n.pair, n.space_color, sum(n.delta_bytes) AS weight_bytes
  FROM (
    SELECT
      c.pair, c.space_color, any_value(c.delta_bytes) AS delta_bytes
    FROM changed_buffers AS c
    JOIN role_rules() AS r
      ON r.rule_id IN (
        'params', 'average_by_name', 'state_by_name', 'weight_by_name'
      )
      AND regexp_matches(lower(c.candidate_op_path), r.name_pattern)
    WHERE c.part = 'new'
      AND c.parameter IS NOT NULL
    GROUP BY c.pair, c.space_color, c.number
    HAVING arg_min(r.role, r.place) = 'weights'
  ) AS n
  GROUP BY n.pair, n.space_color
)
SELECT
  e.pair, e.space_color, any_value(e.edit_count) AS edit_count,
  count(e.share_bytes) = 0
  AND (
    20 * coalesce(any_value(w.weight_bytes), 0)
      >= abs(any_value(e.total_delta))
    OR coalesce(any_value(r.has_resized), FALSE)
    AND (
      2 * abs(any_value(s.share_bytes)) > abs(any_value(e.total_delta))
      OR any_value(r.other_bytes) >= 0.5 * abs(any_value(e.total_delta))
      OR any_value(r.resized_bytes) * any_value(s.share_bytes) < 0
    )
    OR coalesce(any_value(r.has_retyped), FALSE)
    AND sign(any_value(s.share_bytes))
      = sign(any_value(e.total_delta) - any_value(s.share_bytes))
  ) AS is_together
FROM claims_of_edits AS e
JOIN compiled_pairs AS p USING (pair)
LEFT JOIN (
  SELECT
    d.pair, d.space_color,
    bool_or(c.part = 'resized' AND c.parameter IS NOT NULL) AS has_resized,
    sum(c.delta_bytes) FILTER (
      WHERE c.part = 'resized' AND c.parameter IS NOT NULL
    ) AS resized_bytes,
    bool_or(c.part = 'retyped' AND c.parameter IS NOT NULL) AS has_retyped,
    coalesce(sum(abs(c.delta_bytes)) FILTER (
      WHERE c.part NOT IN ('resized', 'retyped', 'repadded')
        AND c.delta_bytes * d.direction < 0
    ), 0) AS other_bytes
  FROM changed_buffers AS c
  JOIN space_differences AS d USING (pair, space_color)
  GROUP BY d.pair, d.space_color
) AS r
  ON r.pair = e.pair
  AND r.space_color = e.space_color
LEFT JOIN shares AS s
  ON s.pair = e.pair
  AND s.space_color = e.space_color
  AND s.origin = 'inputs'
LEFT JOIN new_weights AS w
  ON w.pair = e.pair
  AND w.space_color = e.space_color
WHERE e.standing IS NOT NULL
  AND NOT e.is_against
  AND p.has_other_inputs
  AND NOT p.has_other_environment
GROUP BY e.pair, e.space_color
