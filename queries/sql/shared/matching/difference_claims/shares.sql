-- step: Bytes of the difference by origin: one edit, the inputs, several of
--   these, or none (unexplained).
-- grain: pair, memory space, origin, edit
WITH origins AS (
  FROM kinds_of_edits
  UNION
  FROM path_origins
  UNION
  FROM line_origins
),
counted AS (
  SELECT
    c.pair, c.space_color, c.number, c.delta_bytes,
    count(o.place) AS origin_count, min(o.place) AS first_place
  FROM changed_buffers AS c
  LEFT JOIN origins AS o USING (pair, space_color, number)
  GROUP BY c.pair, c.space_color, c.number, c.delta_bytes
)
SELECT
  c.pair, c.space_color,
  CASE
    WHEN c.origin_count = 0 THEN 'unexplained'
    WHEN c.origin_count > 1 THEN 'several'
    WHEN c.first_place = 0 THEN 'inputs'
    ELSE 'edit'
  END AS origin,
  CASE WHEN c.origin_count = 1 THEN nullif(c.first_place, 0) END AS edit_place,
  CAST(sum(c.delta_bytes) AS BIGINT) AS share_bytes,
  count(*) AS changed_count
FROM counted AS c
GROUP BY ALL
