-- step: The part with most of the difference, and its share of all parts of
--   the same sign. Another kind of allocation is what the compiler made of
--   something else: it counts half. Arguments that are other arrays for the
--   same data are left out.
-- grain: pair, memory space
-- materialised: no
WITH causes AS (
  SELECT
    f.pair, f.space_color, f.part,
    CASE WHEN NOT s.is_detailed THEN f.kind END AS main_kind,
    CAST(sum(f.delta) AS BIGINT) AS delta
  FROM parts AS f
  JOIN space_deltas AS s USING (pair, space_color)
  WHERE f.part <> 'same'
    AND NOT f.is_regrouped
  GROUP BY ALL
)
SELECT
  c.*,
  CASE
    WHEN c.delta > 0
      THEN c.delta
        / sum(greatest(c.delta, 0)) OVER (PARTITION BY c.pair, c.space_color)
    WHEN c.delta < 0
      THEN c.delta
        / sum(least(c.delta, 0)) OVER (PARTITION BY c.pair, c.space_color)
    ELSE 0.0
  END AS share
FROM causes AS c
JOIN space_deltas AS s USING (pair, space_color)
QUALIFY row_number() OVER (
  PARTITION BY c.pair, c.space_color
  ORDER BY
    CASE WHEN s.total_delta < 0 THEN c.delta ELSE -c.delta END
    * CASE WHEN c.part = 'allocation_kind' THEN 1 ELSE 2 END, c.part,
    c.main_kind
) = 1
