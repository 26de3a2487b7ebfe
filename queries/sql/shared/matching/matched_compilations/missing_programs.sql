-- step: Programs of the base that are missing. What is compiled less often is
--   not missing; nor are as many programs of a name as there are new ones,
--   which may be what became of them. Nor are programs that JAX compiles for a
--   function of its own, called outside of jit: library_programs. A function
--   of the user with such a name has stack frames of that name.
-- grain: pair of runs, rank, program
-- materialised: no
WITH candidate_kinds AS (
  SELECT
    d.pair, d.rank, d.candidate_program AS called,
    d.candidate_key AS kind_key,
    bool_or(d.method IS NOT NULL) AS is_kept
  FROM direct_pairs AS d
  WHERE d.candidate_place IS NOT NULL
  GROUP BY d.pair, d.rank, d.candidate_program, d.candidate_key
),
functions AS MATERIALIZED (
  SELECT DISTINCT
    t.locations_id,
    regexp_replace(
      string_split(f.function_name, '.')[-1], '\W', '_', 'g'
    ) AS function_name
  FROM (SELECT DISTINCT base_locations_id AS locations_id FROM direct_pairs)
  JOIN store.location_sets AS t USING (locations_id)
  JOIN store.stack_frames AS f USING (frames_id)
  WHERE f.function_name <> ''
),
helpers AS (
  SELECT d.pair, d.rank, d.base_program AS called, d.base_key AS kind_key
  FROM direct_pairs AS d
  JOIN library_programs() AS l ON l.name = d.base_program
  LEFT JOIN functions AS f ON f.locations_id = d.base_locations_id
  WHERE d.candidate_place IS NULL
  GROUP BY d.pair, d.rank, d.base_program, d.base_key
  HAVING NOT coalesce(
    bool_or(f.function_name = substr(d.base_program, length('jit_') + 1)),
    FALSE
  )
),
lost_kinds AS (
  SELECT
    d.pair, d.rank, d.base_program AS called, d.base_key AS kind_key,
    row_number() OVER (
      PARTITION BY d.pair, d.rank, d.base_program ORDER BY min(d.base_place)
    ) AS ordinal
  FROM direct_pairs AS d
  ANTI JOIN candidate_kinds AS k
    ON k.pair = d.pair
    AND k.rank IS NOT DISTINCT FROM d.rank
    AND k.called = d.base_program
    AND k.kind_key IS NOT DISTINCT FROM d.base_key
  ANTI JOIN helpers AS h
    ON h.pair = d.pair
    AND h.rank IS NOT DISTINCT FROM d.rank
    AND h.called = d.base_program
    AND h.kind_key IS NOT DISTINCT FROM d.base_key
  WHERE d.candidate_place IS NULL
    AND d.base_has_assignment
  GROUP BY d.pair, d.rank, d.base_program, d.base_key
),
new_kinds AS (
  SELECT k.pair, k.rank, k.called, count(*) AS times
  FROM candidate_kinds AS k
  WHERE NOT k.is_kept
  GROUP BY k.pair, k.rank, k.called
)
SELECT l.pair, l.rank, l.called, l.kind_key
FROM lost_kinds AS l
LEFT JOIN new_kinds AS b
  ON b.pair = l.pair
  AND b.rank IS NOT DISTINCT FROM l.rank
  AND b.called = l.called
WHERE l.ordinal > coalesce(b.times, 0)
