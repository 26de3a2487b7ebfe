-- step: The snapshot after the last equal one: of the base only, if only it
--   ran that pass.
-- grain: pair whose last snapshots differ
-- materialised: no
WITH followers AS (
  SELECT
    c.*, l.pair IS NOT NULL AS has_equal,
    row_number() OVER (
      PARTITION BY c.pair, c.is_candidate ORDER BY c.place
    ) AS number_after_equal,
    min(c.is_candidate) OVER same_pass = max(c.is_candidate) OVER same_pass
      AS is_one_sided
  FROM compared_snapshots AS c
  JOIN stage_differences AS d USING (pair)
  LEFT JOIN last_equal_stage AS l USING (pair)
  WHERE d.difference <> 'none'
    AND c.place
    > CASE
      WHEN l.pair IS NULL THEN 0
      WHEN c.is_candidate THEN l.candidate_place
      ELSE l.base_place
    END
  WINDOW same_pass AS (PARTITION BY c.pair, c.label)
),
heads AS (
  SELECT
    f.*,
    f.has_equal AND f.is_one_sided
      AND count(*) FILTER (WHERE f.is_one_sided) OVER of_pair = 1
      AS is_extra,
    max(CASE WHEN NOT f.is_candidate THEN f.instruction_count END)
      OVER of_pair AS base_count,
    max(CASE WHEN f.is_candidate THEN f.instruction_count END)
      OVER of_pair AS candidate_count
  FROM followers AS f
  WHERE f.number_after_equal = 1
  WINDOW of_pair AS (PARTITION BY f.pair)
)
SELECT
  h.*,
  h.label
  || CASE
    WHEN h.is_extra AND h.is_candidate THEN ' (in the candidate only)'
    WHEN h.is_extra THEN ' (in the base only)'
    ELSE ''
  END AS name
FROM heads AS h
QUALIFY row_number() OVER (
  PARTITION BY h.pair ORDER BY h.is_extra DESC, h.is_candidate DESC
) = 1
