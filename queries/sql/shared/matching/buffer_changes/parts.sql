-- step: All parts, with the columns by which they are ordered. is_regrouped:
--   of arguments that are new and gone, of about as many bytes: they are other
--   arrays for the same data.
-- grain: pair, memory space, part of a buffer or profile
WITH parts_of_both AS (
  SELECT
    m.pair, r.number, r.space_color, r.kind, r.part, r.delta, r.note,
    r.status, r.base_held, r.candidate_held, m.confidence,
    coalesce(
      CASE
        WHEN m.candidate_bytes IS NULL THEN m.base_instruction
        ELSE m.candidate_instruction
      END, ''
    ) AS name
  FROM buffer_parts AS r
  JOIN buffer_pairs AS m USING (number)
  JOIN space_deltas AS s
    ON s.pair = m.pair
    AND s.space_color = r.space_color
  WHERE s.has_ranges
    OR r.kind <> 'temp'
  UNION ALL BY NAME
  SELECT
    r.pair, r.space_color, r.change.kind, r.change.part, r.change.delta,
    CASE r.change.part
      WHEN 'fragmentation' THEN 'packing'
      WHEN 'temp' THEN 'one side has no live ranges'
      WHEN 'whole' THEN 'details of a run are pruned'
      ELSE ''
    END AS note,
    1.0 AS confidence, '' AS name
  FROM profile_parts AS r
  WHERE r.change.delta <> 0
    OR r.change.part = 'same'
)
SELECT
  p.*,
  p.kind = 'parameter'
  AND p.part IN ('new', 'gone')
  AND coalesce(abs(g.new_bytes + g.gone_bytes) <= 0.1 * g.new_bytes, FALSE)
    AS is_regrouped
FROM parts_of_both AS p
LEFT JOIN (
  SELECT
    o.pair, o.space_color,
    sum(o.delta) FILTER (WHERE o.part = 'new') AS new_bytes,
    sum(o.delta) FILTER (WHERE o.part = 'gone') AS gone_bytes
  FROM parts_of_both AS o
  WHERE o.kind = 'parameter'
  GROUP BY o.pair, o.space_color
) AS g USING (pair, space_color)
