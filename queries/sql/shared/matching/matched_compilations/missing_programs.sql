-- step: Programs of the base that are missing. What is compiled less often is
--   not missing; nor are as many programs of a name as there are new ones,
--   which may be what became of them.
-- grain: rank, program
-- materialised: no
WITH candidate_kinds AS (
  SELECT
    d.rank, d.candidate_program AS called, d.candidate_key AS kind_key,
    bool_or(d.method IS NOT NULL) AS is_kept
  FROM direct_pairs AS d
  WHERE d.candidate_place IS NOT NULL
  GROUP BY d.rank, d.candidate_program, d.candidate_key
),
lost_kinds AS (
  SELECT
    d.rank, d.base_program AS called, d.base_key AS kind_key,
    row_number() OVER (
      PARTITION BY d.rank, d.base_program ORDER BY min(d.base_place)
    ) AS ordinal
  FROM direct_pairs AS d
  ANTI JOIN candidate_kinds AS k
    ON k.rank IS NOT DISTINCT FROM d.rank
    AND k.called = d.base_program
    AND k.kind_key IS NOT DISTINCT FROM d.base_key
  WHERE d.candidate_place IS NULL
    AND d.base_has_assignment
  GROUP BY d.rank, d.base_program, d.base_key
),
new_kinds AS (
  SELECT k.rank, k.called, count(*) AS times
  FROM candidate_kinds AS k
  WHERE NOT k.is_kept
  GROUP BY k.rank, k.called
)
SELECT l.rank, l.called, l.kind_key
FROM lost_kinds AS l
LEFT JOIN new_kinds AS b
  ON b.rank IS NOT DISTINCT FROM l.rank
  AND b.called = l.called
WHERE l.ordinal > coalesce(b.times, 0)
