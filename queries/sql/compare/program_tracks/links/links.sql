-- step: All links of a module to its next sighting: those of neighbours, then,
--   over a gap, the latest match of what had ended.
-- grain: link
WITH matches_across_gaps AS (
  SELECT
    m.base_run_id, m.base_place, m.candidate_run_id, m.candidate_place,
    m.method, m.confidence, g.base_place AS base_order, g.candidate_order
  FROM module_ladder(
    base_ids := (
      SELECT list(y.base_id ORDER BY y.base_place, y.candidate_order)
      FROM gaps AS y
    ),
    candidate_ids := (
      SELECT list(y.candidate_id ORDER BY y.base_place, y.candidate_order)
      FROM gaps AS y
    ),
    assigned_only := TRUE
  ) AS m
  JOIN gaps AS g
    ON g.base_id = m.base_run_id
    AND g.candidate_id = m.candidate_run_id
  SEMI JOIN ended AS e
    ON e.run_id = m.base_run_id
    AND e.place = m.base_place
  SEMI JOIN begun AS b
    ON b.run_id = m.candidate_run_id
    AND b.place = m.candidate_place
  WHERE m.method IS NOT NULL
  QUALIFY row_number() OVER (
    PARTITION BY m.candidate_run_id, m.candidate_place
    ORDER BY g.base_place DESC
  ) = 1
)
SELECT * FROM matches_of_neighbours
UNION ALL
SELECT * EXCLUDE (base_order, candidate_order)
FROM matches_across_gaps
QUALIFY row_number() OVER (
  PARTITION BY base_run_id, base_place ORDER BY candidate_order
) = 1
